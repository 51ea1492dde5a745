import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";
import type { DataFile, DeleteFile } from "moraine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compilerMessages, type ExampleScope, examplesOfSource, writeExampleModule } from "./support/examples.js";
import { stopServices } from "./support/services.js";

interface Scope extends ExampleScope {
  readonly dataFile: DataFile;
  readonly flushedFile: DataFile;
  readonly deleteFile: Omit<DeleteFile, "dataFileId">;
}

const scopeType = `import type { DataFile, DeleteFile } from "moraine";
interface Scope {
  readonly check: (actual: unknown, expected: unknown) => void;
  readonly dataFile: DataFile;
  readonly flushedFile: DataFile;
  readonly deleteFile: Omit<DeleteFile, "dataFileId">;
}`;

const source = readFileSync(new URL("../src/interface.ts", import.meta.url), "utf8");
const modulePath = fileURLToPath(new URL("../.cache/interface-examples.ts", import.meta.url));
const lake = mkdtempSync(join(tmpdir(), "moraine-examples-"));
process.env["MORAINE_RUNTIME_DIR"] = join(lake, "run");
const folder = join(lake, "main/flights");
const { prelude, examples } = examplesOfSource(source);
const given = "const { dataFile, deleteFile, flushedFile } = given;";

writeExampleModule(modulePath, `${given}\n${prelude}`, examples, scopeType, "await catalog.close();", (at) => ({
  '"memory://lake"': `"memory://lake-${at}"`,
  '"memory://other"': `"memory://other-${at}"`,
  '"shared-lake"': JSON.stringify(join(lake, `shared-${at}`)),
  '"lake-data"': JSON.stringify(lake),
}));

describe("examples of the contract", async () => {
  const module = (await import(modulePath)) as { examples: Record<string, (scope: Scope) => Promise<void>> };
  let files: Omit<Scope, "check">;

  beforeAll(async () => {
    files = await writeFiles();
  });
  afterAll(async () => {
    await stopServices(lake);
    rmSync(lake, { recursive: true, force: true });
  });

  it("are many, and compile as they stand", () => {
    expect(examples.length).toBeGreaterThan(50);
    expect(compilerMessages(modulePath)).toEqual([]);
  });

  it.each(Object.keys(module.examples))("%s", async (name) => {
    expect.hasAssertions();
    await module.examples[name]?.({ ...files, check: (actual, expected) => expect(actual).toEqual(expected) });
  });
});

async function writeFiles(): Promise<Omit<Scope, "check">> {
  mkdirSync(folder, { recursive: true });
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const sql = await instance.connect();
  const write = async (name: string, rows: string, options = ""): Promise<void> => {
    await sql.run(`COPY (${rows}) TO '${join(folder, name)}' (FORMAT parquet${options})`);
  };
  const fieldIds = ", FIELD_IDS {number: 1, origin: 2, delay: 3}";
  const columns = "number::BIGINT AS number, origin, delay::INTEGER AS delay";
  await write(
    "four-and-five.parquet",
    `SELECT ${columns} FROM (VALUES (4, 'TRD', 5), (5, 'SVG', NULL)) t(number, origin, delay)`,
    fieldIds,
  );
  await write(
    "one-to-three.parquet",
    `SELECT ${columns} FROM (VALUES (1, 'OSL', 12), (2, 'OSL', NULL), (3, 'BGO', 40)) t(number, origin, delay)`,
    fieldIds,
  );
  await write("deletes.parquet", `SELECT '${join(folder, "four-and-five.parquet")}' AS file_path, 0::BIGINT AS pos`);
  sql.closeSync();
  instance.closeSync();
  return {
    dataFile: { ...described("four-and-five.parquet"), recordCount: 2 },
    flushedFile: { ...described("one-to-three.parquet"), recordCount: 3 },
    deleteFile: { ...described("deletes.parquet"), deleteCount: 1 },
  };
}

function described(path: string): { path: string; fileSizeBytes: number; footerSize: number } {
  const bytes = readFileSync(join(folder, path));
  return { path, fileSizeBytes: statSync(join(folder, path)).size, footerSize: bytes.readUInt32LE(bytes.length - 8) };
}
