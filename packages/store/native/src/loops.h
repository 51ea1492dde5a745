// The functions that the addon exports.
#pragma once

#include <node_api.h>

namespace moraine {

napi_value GetManyCall(napi_env env, napi_callback_info info);
napi_value ScanCall(napi_env env, napi_callback_info info);
napi_value ScanNextCall(napi_env env, napi_callback_info info);
napi_value ScanCloseCall(napi_env env, napi_callback_info info);
napi_value WriteBeginCall(napi_env env, napi_callback_info info);
napi_value WriteAppendCall(napi_env env, napi_callback_info info);
napi_value WriteEndCall(napi_env env, napi_callback_info info);
napi_value WriteAbortCall(napi_env env, napi_callback_info info);
napi_value FlushCall(napi_env env, napi_callback_info info);
napi_value MoveToTablesCall(napi_env env, napi_callback_info info);
napi_value DurableSequenceCall(napi_env env, napi_callback_info info);
napi_value SnapshotCall(napi_env env, napi_callback_info info);
napi_value ReleaseSnapshotCall(napi_env env, napi_callback_info info);
napi_value ShutdownCall(napi_env env, napi_callback_info info);
napi_value OpenFolderCall(napi_env env, napi_callback_info info);
napi_value CloseFolderCall(napi_env env, napi_callback_info info);

} // namespace moraine
