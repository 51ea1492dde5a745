import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { ConfigurationError } from "@moraine/codec";

const require = createRequire(import.meta.url);

/**
 * The extension that DuckDB loads: the file that `MORAINE_EXTENSION` names, else the one that was built with the package.
 * Errors: `configuration` where there is none.
 */
export function extensionFile(): string {
  const named = process.env["MORAINE_EXTENSION"];
  if (named !== undefined && named !== "") {
    if (existsSync(named)) return named;
    throw new ConfigurationError(`MORAINE_EXTENSION names ${named}, which is not there`, { remedy: "Name the file." });
  }
  const built = join(
    dirname(require.resolve("@moraine/duckdb-ext/package.json")),
    "native/build/moraine.duckdb_extension",
  );
  if (existsSync(built)) return built;
  throw new ConfigurationError("the DuckDB extension is not built", {
    remedy: "Run npm run setup with g++ or clang++ installed, or name a built file in MORAINE_EXTENSION.",
  });
}
