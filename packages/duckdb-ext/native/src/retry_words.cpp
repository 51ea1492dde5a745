#include "retry_words.hpp"

#include "duckdb/common/string_util.hpp"

namespace moraine {

static constexpr const char *RETRY_WORDS[] = {"conflict", "concurrent", "unique", "primary key"};
static constexpr const char *DOT = "\u00b7";

std::string WithoutRetryWords(const std::string &text) {
	auto folded = duckdb::StringUtil::Lower(text);
	std::string result;
	for (size_t at = 0; at < text.size(); at++) {
		result += text[at];
		for (auto word : RETRY_WORDS) {
			if (folded.compare(at, std::string(word).size(), word) == 0) {
				result += DOT;
			}
		}
	}
	return result;
}

} // namespace moraine
