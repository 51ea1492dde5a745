// Folders that stay open for the engine. Node closes what a worker has opened when the worker ends, while an engine of it may still
// be at work in the folder; what is opened here is closed here only.
#include "loops.h"
#include "values.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace moraine {

//! openFolder(path in UTF-8): a descriptor, or the negative number of the system's error.
napi_value OpenFolderCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "openFolder");
	ByteView bytes;
	if (!arguments.Bytes(0, bytes)) {
		return nullptr;
	}
	const std::string path(reinterpret_cast<const char *>(bytes.data), bytes.length);
	int descriptor;
	do {
		descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	} while (descriptor < 0 && errno == EINTR);
	napi_value result = nullptr;
	napi_create_int32(env, descriptor < 0 ? -errno : descriptor, &result);
	return result;
}

//! closeFolder(descriptor)
napi_value CloseFolderCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "closeFolder");
	uint32_t descriptor = 0;
	if (!arguments.Number(0, descriptor)) {
		return nullptr;
	}
	close(static_cast<int>(descriptor));
	napi_value result = nullptr;
	napi_get_undefined(env, &result);
	return result;
}

} // namespace moraine
