// moraine_indexes, moraine_index_lookup, moraine_index_in, moraine_index_range, moraine_index_nulls.
#pragma once

#include "duckdb/main/extension/extension_loader.hpp"

namespace moraine {

void RegisterIndexFunctions(duckdb::ExtensionLoader &loader);

} // namespace moraine
