// What a call of the library failed with.
#pragma once

#include "uniffi.h"

#include <string>

namespace moraine {

struct Failure {
	//! Name of the library's error variant ("Closed", "Invalid", ...), or "Panic", "Cancelled", "Limit".
	std::string tag;
	//! Of "Closed" only: "Clean", "Fenced", "Panic" or "Unknown".
	std::string reason;
	std::string message;

	bool Set() const {
		return !tag.empty();
	}
};

//! Takes over the error of a call that did not succeed.
Failure TakeFailure(RustCallStatus &status);

} // namespace moraine
