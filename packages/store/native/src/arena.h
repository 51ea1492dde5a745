// A growing byte buffer that can be handed on without a copy.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace moraine {

class Arena {
public:
	Arena() = default;
	Arena(const Arena &) = delete;
	Arena &operator=(const Arena &) = delete;
	~Arena() {
		free(bytes);
	}

	//! Adds room at the end and returns where it begins. Later additions move it.
	uint8_t *Grow(size_t more) {
		if (size + more > capacity) {
			Reserve(size + more);
		}
		uint8_t *start = bytes + size;
		size += more;
		return start;
	}

	void Add(const uint8_t *source, size_t length) {
		if (length > 0) {
			memcpy(Grow(length), source, length);
		}
	}

	void Reserve(size_t needed) {
		size_t larger = capacity > 0 ? capacity : 1024;
		while (larger < needed) {
			larger *= 2;
		}
		uint8_t *moved = static_cast<uint8_t *>(realloc(bytes, larger));
		if (!moved) {
			throw std::bad_alloc();
		}
		bytes = moved;
		capacity = larger;
	}

	uint8_t *Data() const {
		return bytes;
	}
	size_t Size() const {
		return size;
	}

	//! Gives the memory away; it has to be freed with `free`.
	uint8_t *Release() {
		uint8_t *released = bytes;
		bytes = nullptr;
		size = 0;
		capacity = 0;
		return released;
	}

private:
	uint8_t *bytes = nullptr;
	size_t size = 0;
	size_t capacity = 0;
};

} // namespace moraine
