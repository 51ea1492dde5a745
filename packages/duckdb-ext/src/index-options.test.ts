import { MoraineError } from "@moraine/codec";
import { expect, test } from "vitest";
import { indexOptions } from "./index-options.js";

const read = (options: Readonly<Record<string, string>>, columns = 2, unique = false) =>
  indexOptions(new Map(Object.entries(options)), columns, unique);

test("directions and places of NULLs are lists of words", () => {
  expect(read({})).toEqual({ orders: Array(2).fill({ direction: "asc", nulls: "last" }) });
  expect(read({ DIRECTIONS: "[desc, asc]", nulls: "['FIRST', \"last\"]" })).toEqual({
    orders: [
      { direction: "desc", nulls: "first" },
      { direction: "asc", nulls: "last" },
    ],
  });
  expect(read({ staged: "false", maintenance: "SYNCHRONOUS" }).orders).toHaveLength(2);
});

test.each<[Record<string, string>, string, string]>([
  [{ colour: "red" }, "invalid_argument", "colour"],
  [{ directions: "[desc]" }, "invalid_argument", "directions"],
  [{ directions: "desc, asc" }, "invalid_argument", "directions"],
  [{ directions: "[Desc, asc]" }, "invalid_argument", "directions"],
  [{ directions: "[desc, NULL]" }, "invalid_argument", "directions"],
  [{ nulls: "[first, middle]" }, "invalid_argument", "nulls"],
  [{ step_entries: "0" }, "invalid_argument", "step_entries"],
  [{ step_bytes: "-1" }, "invalid_argument", "step_bytes"],
  [{ staged: "maybe" }, "invalid_argument", "staged"],
  [{ maintenance: "lazy" }, "invalid_argument", "maintenance"],
  [{ staged: "true" }, "unsupported", "staged"],
  [{ step_entries: "10" }, "unsupported", "step_entries"],
  [{ maintenance: "deferred" }, "unsupported", "deferred"],
])("%o is refused by name", (options, code, name) => {
  let found: unknown;
  try {
    read(options);
  } catch (error) {
    found = error;
  }
  expect(found).toBeInstanceOf(MoraineError);
  expect((found as MoraineError).code).toBe(code);
  expect((found as MoraineError).message).toContain(name);
});

test("an index that refuses duplicates cannot be deferred", () => {
  expect(() => read({ maintenance: "deferred" }, 1, true)).toThrow("cannot be deferred");
});
