#include "failure.h"

#include "rust_buffer.h"

namespace moraine {

static const char *const TAGS[] = {"Transaction", "Closed", "Unavailable", "Invalid", "Data", "Internal"};
static const char *const REASONS[] = {"Clean", "Fenced", "Panic", "Unknown"};

//! An error variant: its number from 1, of "Closed" the reason's number, then the text with its length in front.
static void ReadVariant(const RustBuffer &buffer, Failure &failure) {
	uint64_t offset = 0;
	auto next = [&](uint32_t &value) {
		if (offset + 4 > buffer.len) {
			return false;
		}
		value = ReadU32(buffer.data + offset);
		offset += 4;
		return true;
	};
	uint32_t tag = 0;
	uint32_t reason = 0;
	uint32_t length = 0;
	if (!next(tag) || tag < 1 || tag > 6) {
		return;
	}
	failure.tag = TAGS[tag - 1];
	if (failure.tag == "Closed") {
		failure.reason = next(reason) && reason >= 1 && reason <= 4 ? REASONS[reason - 1] : "Unknown";
	}
	if (next(length) && offset + length <= buffer.len) {
		failure.message.assign(reinterpret_cast<const char *>(buffer.data) + offset, length);
	}
}

Failure TakeFailure(RustCallStatus &status) {
	Failure failure;
	failure.tag = "Internal";
	const RustBuffer &buffer = status.error;
	if (status.code == 1) {
		ReadVariant(buffer, failure);
	} else if (status.code == 2) {
		failure.tag = "Panic";
		// Unlike other strings this one has no length in front.
		failure.message =
		    buffer.len > 0 ? std::string(reinterpret_cast<const char *>(buffer.data), buffer.len) : "Rust panic";
	} else {
		failure.tag = "Cancelled";
		failure.message = "the call was cancelled";
	}
	if (buffer.data) {
		FreeBuffer(buffer);
	}
	status = RustCallStatus();
	return failure;
}

} // namespace moraine
