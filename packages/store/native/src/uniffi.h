// The C ABI that the SlateDB library exports: the scaffolding which UniFFI generates for its language bindings,
// contract version 30, and the functions of it that the loops call. Structs are passed and returned by value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace moraine {

//! Memory that belongs to the Rust side. Arguments of this type are consumed by the callee, results belong to the
//! caller.
struct RustBuffer {
	uint64_t capacity = 0;
	uint64_t len = 0;
	uint8_t *data = nullptr;
};

struct RustCallStatus {
	int8_t code = 0; // 0 success, 1 error, 2 panic, 3 cancelled
	RustBuffer error;
};

//! Called when a future that was pending can be polled again (1), or inside of `poll` when it is ready (0).
using Continuation = void (*)(uint64_t data, int8_t poll);

//! What can be read. The numbers are those that the TypeScript side passes.
enum class Readable : uint32_t { DB = 0, SNAPSHOT = 1, READER = 2 };
constexpr uint32_t READABLE_COUNT = 3;

//! An object handle is the pointer of an Arc. Method calls consume one reference: clone the handle before each of them.
using CloneFunction = uint64_t (*)(uint64_t handle, RustCallStatus *status);
using FreeFunction = void (*)(uint64_t handle, RustCallStatus *status);
using PollFunction = void (*)(uint64_t future, Continuation continuation, uint64_t data);
using FutureFunction = void (*)(uint64_t future);

//! One type of future result: its poll, and its free. Completion differs in its return type.
struct FutureApi {
	PollFunction poll;
	FutureFunction free;
};

struct Api {
	void *library = nullptr;

	RustBuffer (*buffer_alloc)(uint64_t size, RustCallStatus *status);
	void (*buffer_free)(RustBuffer buffer, RustCallStatus *status);

	FutureApi buffer_future;
	RustBuffer (*complete_buffer)(uint64_t future, RustCallStatus *status);
	FutureApi handle_future;
	uint64_t (*complete_handle)(uint64_t future, RustCallStatus *status);
	FutureApi void_future;
	void (*complete_void)(uint64_t future, RustCallStatus *status);

	CloneFunction clone[READABLE_COUNT];
	FreeFunction free[READABLE_COUNT];
	uint64_t (*get[READABLE_COUNT])(uint64_t self, RustBuffer key);
	uint64_t (*scan[READABLE_COUNT])(uint64_t self, RustBuffer range, RustBuffer options);

	CloneFunction clone_iterator;
	FreeFunction free_iterator;
	uint64_t (*iterator_next)(uint64_t self);

	uint64_t (*batch_new)(RustCallStatus *status);
	CloneFunction clone_batch;
	FreeFunction free_batch;
	void (*batch_put)(uint64_t self, RustBuffer key, RustBuffer value, RustCallStatus *status);
	void (*batch_delete)(uint64_t self, RustBuffer key, RustCallStatus *status);

	uint64_t (*db_write)(uint64_t db, uint64_t batch, RustBuffer options);
	uint64_t (*db_flush)(uint64_t db);
	uint64_t (*db_flush_with_options)(uint64_t db, RustBuffer options);
	uint64_t (*db_shutdown)(uint64_t db);
	uint64_t (*reader_shutdown)(uint64_t reader);
	uint64_t (*db_snapshot)(uint64_t db);
	RustBuffer (*db_status)(uint64_t db, RustCallStatus *status);

	//! Called to measure what a freed future leaves behind, and never again.
	uint64_t (*store_resolve)(RustBuffer url, RustCallStatus *status);
	uint64_t (*wal_reader_new)(RustBuffer path, uint64_t store, RustCallStatus *status);
	uint64_t (*wal_reader_list)(uint64_t self, RustBuffer start, RustBuffer end);

	//! Whether freeing a future leaves one reference of it behind (see `MeasureFutureLeak`).
	bool futures_leak = false;
};

//! The functions of the library, once `LoadApi` has succeeded. Written once, before any loop runs.
extern Api api;

struct LoadResult {
	bool ok = false;
	std::string reason;
	std::vector<std::string> details;
};

//! Binds to the copy of the library at `path` that is loaded in this process already: handles are its pointers, so
//! another copy would be of no use. Fails, and changes nothing, where the file is not loaded, a function is missing, or
//! the contract version or a checksum of a method differs. A second call succeeds for the same library and fails for
//! another one. `extra_symbol`: a function that must be there too, or null; for tests.
LoadResult LoadApi(const char *path, const char *extra_symbol);
bool ApiLoaded();

} // namespace moraine
