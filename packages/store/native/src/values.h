// Between JavaScript values and ours.
#pragma once

#include "arena.h"
#include "failure.h"
#include "uniffi.h"

#include <node_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace moraine {

class Environment;

//! The elements of a typed array, valid until JavaScript runs again.
template <class T> struct ArrayView {
	const T *data = nullptr;
	size_t length = 0;

	std::vector<T> Copy() const {
		return std::vector<T>(data, data + length);
	}
};

using ByteView = ArrayView<uint8_t>;
using WordView = ArrayView<uint32_t>;

//! The arguments of one call. Each getter throws a TypeError that names the argument and returns false where it does
//! not fit.
class Arguments {
public:
	static constexpr size_t MOST = 8;

	Arguments(napi_env env, napi_callback_info info, const char *function);

	bool Bytes(size_t at, ByteView &view) const;
	bool Words(size_t at, WordView &view) const;
	bool Number(size_t at, uint32_t &number) const;
	//! Something that can be read, which takes two arguments: its kind and its handle. That of a snapshot is the
	//! external value that `snapshot` gave.
	bool Source(size_t at, Readable &kind, uint64_t &handle) const;
	//! The handle of an object of the binding, which it shows as an external value or as a bigint.
	bool Handle(size_t at, uint64_t &handle) const;
	//! The pointer of an external value that this addon made.
	bool Own(size_t at, const napi_type_tag &tag, void **pointer) const;
	//! Throws the TypeError for an argument whose content does not fit.
	bool Refuse(size_t at, const char *expected) const;

	Environment *environment = nullptr;

private:
	napi_env env;
	const char *function;
	size_t count = MOST;
	napi_value values[MOST];
};

//! An Error with the failure's tag and reason; the TypeScript side makes it the binding's own class. Null where the
//! environment ends.
napi_value MakeError(napi_env env, const Failure &failure);

//! The arena's bytes as an ArrayBuffer, or null: large ones are handed over, small ones copied, which is cheaper.
napi_value TakeBuffer(napi_env env, Arena &arena);

} // namespace moraine
