// The words by which DuckLake decides whether to repeat a commit.
#pragma once

#include <string>

namespace moraine {

//! A text with a dot set into each of the words on which DuckLake repeats a commit, wherever it stands: in the path of a
//! folder as well. The service does the same with its own errors (`failure.ts`).
std::string WithoutRetryWords(const std::string &text);

} // namespace moraine
