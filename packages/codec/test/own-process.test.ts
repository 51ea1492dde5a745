import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodeIndexEntry, equalityPrefix, type IndexLayout, parseIndexValue, toIndexValue } from "../src/index.js";
import { compiledPackage, javaScriptOf } from "./support/compiled.js";
import { toHex } from "./support/golden.js";

let folder = "";

// The package is compiled once and run in processes of its own: a locale is fixed when a process starts.
beforeAll(() => {
  folder = compiledPackage();
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

test("the example of the README prints what it says", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  const expected = [...example.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map((match) => match[1]);
  expect(expected.length).toBeGreaterThan(2);
  writeFileSync(join(folder, "example.js"), javaScriptOf(example).replaceAll('"@moraine/codec"', '"./index.js"'));
  const output = execFileSync(process.execPath, [join(folder, "example.js")], { encoding: "utf8" });
  expect(output.trimEnd().split("\n")).toEqual(expected);
});
