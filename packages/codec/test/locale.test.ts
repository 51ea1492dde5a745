import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodeIndexEntry, equalityPrefix, type IndexLayout, parseIndexValue, toIndexValue } from "../src/index.js";
import { toHex } from "./support/golden.js";

const sources = fileURLToPath(new URL("../src/", import.meta.url));
let folder = "";

// A locale is fixed when a process starts, so the package is compiled once and run in a process of each.
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "moraine-codec-"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  for (const name of readdirSync(sources).filter(
    (file) => file.endsWith(".ts") && !/\.(?:test|bench)\.ts$/.test(file),
  )) {
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
    const { outputText } = ts.transpileModule(readFileSync(join(sources, name), "utf8"), { compilerOptions });
    writeFileSync(join(folder, name.replace(/\.ts$/, ".js")), outputText);
  }
  writeFileSync(
    join(folder, "main.js"),
    `import { encodeIndexEntry, equalityPrefix, toIndexValue, parseIndexValue } from "./index.js";
     const hex = (bytes) => Buffer.from(bytes).toString("hex");
     const { layout, texts } = JSON.parse(process.argv[2]);
     layout.indexId = 1n;
     process.stdout.write([
       ...texts.map((text) => hex(encodeIndexEntry(layout, [text], 1n).key)),
       ...texts.map((text) => hex(equalityPrefix(layout, [text]))),
       hex(toIndexValue("UuId", "AABBCCDD-eeff-0011-2233-4455667788II".replace(/I/g, "9"))),
       String(toIndexValue("timestamp with time zone", "2023-11-14 22:13:20")),
       String(parseIndexValue("INTEGER", "12")), String(parseIndexValue("double", "INFINITY")), String(parseIndexValue("DATE", "INFINITY")),
     ].join("\\n"));`,
  );
});

afterAll(() => rmSync(folder, { recursive: true }));

const layout: IndexLayout = {
  indexId: 1n,
  unique: true,
  columns: [{ valueType: "string", descending: false, nullsFirst: false }],
};
const texts = [
  "I",
  "i",
  "\u0130",
  "\u0131",
  "\u00e4",
  "z",
  "\u00df",
  "ss",
  "e\u0301",
  "\u00e9",
  "ch",
  "h",
  "aa",
  "\u00e5",
];

test.each([
  { LC_ALL: "C" },
  { LC_ALL: "tr_TR.UTF-8" },
  { LC_ALL: "de_DE.UTF-8" },
  { LC_ALL: "cs_CZ.UTF-8", TZ: "America/St_Johns" },
])("keys and values are the same under %o", (environment) => {
  const input = JSON.stringify({ layout: { ...layout, indexId: 0 }, texts });
  const output = execFileSync(process.execPath, [join(folder, "main.js"), input], {
    env: environment,
    encoding: "utf8",
  });
  expect(output.split("\n")).toEqual([
    ...texts.map((text) => toHex(encodeIndexEntry(layout, [text], 1n).key)),
    ...texts.map((text) => toHex(equalityPrefix(layout, [text]))),
    toHex(toIndexValue("UUID", "aabbccdd-eeff-0011-2233-445566778899") as Uint8Array),
    "1700000000000000",
    "12",
    String(parseIndexValue("DOUBLE", "inf")),
    "2147483647",
  ]);
});
