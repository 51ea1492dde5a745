// A DuckDB that runs statements until its input ends: a JSON string a line on stdin, for each one JSON line on stdout, as soon as
// it has ended: {"rows": [[text]]} or {"error": text}.
import { createInterface } from "node:readline";
import { DuckDBInstance } from "@duckdb/node-api";

const instance = await DuckDBInstance.create(":memory:", { allow_unsigned_extensions: "true" });
const connection = await instance.connect();
for await (const line of createInterface({ input: process.stdin })) {
  let told;
  try {
    const rows = (await connection.runAndReadAll(/** @type {string} */ (JSON.parse(line)))).getRows();
    told = { rows: rows.map((row) => row.map((value) => (value === null ? "NULL" : String(value)))) };
  } catch (error) {
    told = { error: String(error instanceof Error ? error.message : error) };
  }
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
connection.closeSync();
instance.closeSync();
