import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readHistory, writeHistory } from "./history.js";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moraine-history-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the history", () => {
  it("keeps the newest thousand lines, for the user alone", () => {
    const file = join(folder, "moraine/sql_history");
    const lines = Array.from({ length: 1200 }, (_, at) => `SELECT ${at};`);
    writeHistory(file, lines);
    expect(readHistory(file)).toEqual(lines.slice(0, 1000));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeHistory(file, ["SELECT 'new';"]);
    expect(readHistory(file)).toEqual(["SELECT 'new';"]);
  });

  it("is empty where there is none, and says so where it cannot be read", () => {
    expect(readHistory(join(folder, "nothing"))).toEqual([]);
    writeFileSync(join(folder, "file"), "");
    expect(() => readHistory(join(folder, "file/sql_history"))).toThrow(/ENOTDIR/u);
  });
});
