// A reference to an object of the library.
#pragma once

#include "uniffi.h"

namespace moraine {

//! A reference of our own to something that can be read or written. It keeps the object alive, whatever JavaScript does
//! with its own reference, and is given back exactly once.
class Reference {
public:
	Reference(Readable kind_p, uint64_t of) : kind(static_cast<uint32_t>(kind_p)), handle(CloneOf(of)) {
	}
	Reference(const Reference &) = delete;
	Reference &operator=(const Reference &) = delete;
	~Reference() {
		Free();
	}

	//! One more reference, for a call that consumes it.
	uint64_t Clone() const {
		return CloneOf(handle);
	}
	//! Gives this reference to a call that consumes it.
	uint64_t Release() {
		const uint64_t released = handle;
		handle = 0;
		return released;
	}
	void Free() {
		if (handle != 0) {
			RustCallStatus status;
			api.free[kind](Release(), &status);
		}
	}
	uint32_t Kind() const {
		return kind;
	}
	//! The same for all references to one object.
	uint64_t Handle() const {
		return handle;
	}

private:
	uint64_t CloneOf(uint64_t of) const {
		RustCallStatus status;
		return api.clone[kind](of, &status);
	}

	const uint32_t kind;
	uint64_t handle;
};

} // namespace moraine
