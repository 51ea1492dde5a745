// Runs the statements of a JSON list on stdin and prints one JSON line for each: {"rows": [[text]]} or {"error": text}.
import { text } from "node:stream/consumers";
import { DuckDBInstance } from "@duckdb/node-api";

const instance = await DuckDBInstance.create(":memory:", { allow_unsigned_extensions: "true" });
const connection = await instance.connect();
const statements = /** @type {string[]} */ (JSON.parse(await text(process.stdin)));
for (const sql of statements) {
  let told;
  try {
    const rows = (await connection.runAndReadAll(sql)).getRows();
    told = { rows: rows.map((row) => row.map((value) => (value === null ? null : String(value)))) };
  } catch (error) {
    told = { error: String(error instanceof Error ? error.message : error) };
  }
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
connection.closeSync();
instance.closeSync();
