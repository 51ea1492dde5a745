// Reading and writing the buffers of the C ABI: big-endian numbers, byte strings with a 32-bit length in front.
#pragma once

#include "uniffi.h"

#include <atomic>
#include <cstring>
#include <string>

namespace moraine {

inline uint32_t ReadU32(const uint8_t *at) {
	return static_cast<uint32_t>(at[0]) << 24 | static_cast<uint32_t>(at[1]) << 16 | static_cast<uint32_t>(at[2]) << 8 |
	       static_cast<uint32_t>(at[3]);
}

inline uint64_t ReadU64(const uint8_t *at) {
	return static_cast<uint64_t>(ReadU32(at)) << 32 | ReadU32(at + 4);
}

//! A byte string as an argument; the callee takes it over.
inline RustBuffer LowerBytes(const uint8_t *bytes, uint32_t length) {
	RustCallStatus status;
	RustBuffer buffer = api.buffer_alloc(static_cast<uint64_t>(length) + 4, &status);
	buffer.data[0] = static_cast<uint8_t>(length >> 24);
	buffer.data[1] = static_cast<uint8_t>(length >> 16);
	buffer.data[2] = static_cast<uint8_t>(length >> 8);
	buffer.data[3] = static_cast<uint8_t>(length);
	if (length > 0) {
		memcpy(buffer.data + 4, bytes, length);
	}
	return buffer;
}

//! An argument whose bytes are encoded already; the callee takes it over.
inline RustBuffer LowerRecord(const std::string &bytes) {
	RustCallStatus status;
	RustBuffer buffer = api.buffer_alloc(bytes.size(), &status);
	if (!bytes.empty()) {
		memcpy(buffer.data, bytes.data(), bytes.size());
	}
	return buffer;
}

inline void FreeBuffer(RustBuffer buffer) {
	RustCallStatus status;
	api.buffer_free(buffer, &status);
}

//! The strong count of the Arc whose pointer is this future's handle; the weak count follows it.
inline std::atomic<uint64_t> *StrongCount(uint64_t future) {
	return reinterpret_cast<std::atomic<uint64_t> *>(future - 16);
}

//! Frees a future that has been completed. Where the library forgets a reference, drops that one too: when it was the
//! last, nobody else can see the future, and a second call lets Rust itself destroy it.
inline void FreeFuture(const FutureApi &type, uint64_t future) {
	type.free(future);
	if (api.futures_leak && StrongCount(future)->fetch_sub(1, std::memory_order_acq_rel) == 1) {
		type.free(future);
	}
}

} // namespace moraine
