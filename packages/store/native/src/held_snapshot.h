// A snapshot in JavaScript's hands.
#pragma once

#include "uniffi.h"

#include <node_api.h>

namespace moraine {

//! Of the external value behind which a snapshot lies.
constexpr napi_type_tag SNAPSHOT_TAG = {0x6d6f7261696e6520, 0x736e617073686f74};

//! Releases the snapshot when it is told to, or when JavaScript has forgotten it or ends, whichever comes first. Calls
//! that read from it have references of their own.
class HeldSnapshot {
public:
	HeldSnapshot() = default;
	HeldSnapshot(const HeldSnapshot &) = delete;
	HeldSnapshot &operator=(const HeldSnapshot &) = delete;
	~HeldSnapshot() {
		Release();
	}

	void Hold(uint64_t snapshot) {
		handle = snapshot;
	}
	//! Zero once it has been released.
	uint64_t Handle() const {
		return handle;
	}
	void Release() {
		if (handle != 0) {
			RustCallStatus status;
			api.free[static_cast<uint32_t>(Readable::SNAPSHOT)](handle, &status);
			handle = 0;
		}
	}

private:
	uint64_t handle = 0;
};

} // namespace moraine
