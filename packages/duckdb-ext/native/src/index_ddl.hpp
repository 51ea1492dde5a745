// CREATE INDEX and DROP INDEX on tables of a lake, which DuckLake refuses to bind.
#pragma once

#include "duckdb/main/config.hpp"

namespace moraine {

void RegisterIndexDdl(duckdb::DBConfig &config);

} // namespace moraine
