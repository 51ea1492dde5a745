import { MoraineError } from "@moraine/codec";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeBody, encodeBody } from "./arrow-body.js";
import { readField } from "./arrow-read.js";
import { encodeSchema, type InlineColumn, parseSchema } from "./arrow-schema.js";
import { arrowRows } from "./arrow-stream.js";
import { plainValues } from "./plain-values.js";
import { chunkTable } from "./slice.js";
import { makeData, RecordBatch, Table, vectorFromArray, Field, Schema, Struct, type Data } from "apache-arrow";

/** Damaged records must end in a typed error, or in rows, and soon: never in a crash, a loop or an allocation without end. */

const column = (name: string, columnType: string, children: readonly InlineColumn[] = []): InlineColumn => ({
  name,
  columnType,
  children,
});

const columns = [
  column("id", "int64"),
  column("name", "varchar"),
  column("price", "decimal(18,2)"),
  column("seen", "timestamptz"),
  column("key", "uuid"),
  column("ok", "boolean"),
  column("tags", "list", [column("element", "varchar")]),
  column("place", "struct", [column("x", "float64"), column("y", "int32")]),
];

const schemaBytes = encodeSchema(columns);
const schema = parseSchema(schemaBytes);

const values: readonly (readonly unknown[])[] = [
  [1n, null, 3n],
  ["a", "long text that is not small", null],
  [null, null, null],
  [null, null, null],
  [null, null, null],
  [true, null, false],
  [["x", "y"], null, []],
  [{ x: 1, y: 2 }, null, { x: null, y: 5 }],
];

function body(): Uint8Array {
  const children: Data[] = schema.fields.map((field, at) => {
    const data = vectorFromArray(values[at] ?? [], field.type).data[0];
    if (data === undefined) throw new Error("no data");
    return data;
  });
  const fields = schema.fields.map((field) => new Field(field.name, field.type, true));
  const data = makeData({ type: new Struct(fields), length: 3, nullCount: 0, children });
  const chunk = arrowRows(new Table([new RecordBatch(new Schema(fields), data)])).chunks[0];
  if (chunk === undefined) throw new Error("no chunk");
  return chunk.body;
}

const bodyBytes = body();

const damage = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("set" as const), at: fc.nat(), value: fc.integer({ min: 0, max: 255 }) }),
    fc.record({
      kind: fc.constant("word" as const),
      at: fc.nat(),
      value: fc.constantFrom(0, 1, 0x7fff_ffff, 0xffff_ffff, 0x8000_0000, 0xffff, 4, 8),
    }),
    fc.record({ kind: fc.constant("cut" as const), at: fc.nat(), value: fc.constant(0) }),
  ),
  { minLength: 1, maxLength: 4 },
);

function damaged(bytes: Uint8Array, steps: readonly { kind: string; at: number; value: number }[]): Uint8Array {
  let out = bytes.slice();
  for (const { kind, at, value } of steps) {
    const position = at % Math.max(out.byteLength, 1);
    if (kind === "cut") out = out.slice(0, position);
    else if (kind === "set") out[position] = value;
    else if (position + 4 <= out.byteLength) new DataView(out.buffer).setUint32(position, value, true);
  }
  return out;
}

const runs = { numRuns: 3000 };

function typedErrorOr(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof MoraineError)) throw error;
    expect(["corruption", "unsupported"]).toContain(error.code);
  }
}

function readEveryValue(bytes: Uint8Array): void {
  const parts = decodeBody(bytes, 3);
  for (const [position, field] of schema.fields.entries()) {
    const valueAt = plainValues(field, readField(schema, parts, position));
    for (let row = 0; row < 3; row++) valueAt(row);
  }
}

describe("damaged inline records", () => {
  it("reads the undamaged records back", () => {
    const table = chunkTable(schema, bodyBytes, 3);
    expect(table.numRows).toBe(3);
    expect(table.getChild("name")?.get(1)).toBe("long text that is not small");
    expect(chunkTable(schema, encodeBody(decodeBody(bodyBytes, 3)), 3).toString()).toBe(table.toString());
  });

  it("refuses a damaged schema or reads it, with a typed error", () => {
    fc.assert(
      fc.property(damage, (steps) => {
        typedErrorOr(() => parseSchema(damaged(schemaBytes, steps)));
      }),
      runs,
    );
  });

  it("refuses a damaged body or reads its rows, with a typed error", () => {
    fc.assert(
      fc.property(damage, (steps) => {
        typedErrorOr(() => readEveryValue(damaged(bodyBytes, steps)));
      }),
      runs,
    );
  });

  it("refuses a body under a damaged schema or lays its columns out, with a typed error", () => {
    fc.assert(
      fc.property(damage, (steps) => {
        typedErrorOr(() => chunkTable(parseSchema(damaged(schemaBytes, steps)), bodyBytes, 3));
      }),
      runs,
    );
  });

  it("refuses bytes that never were a record", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(() => parseSchema(bytes)).toThrow(MoraineError);
        expect(() => decodeBody(bytes, 3)).toThrow(MoraineError);
      }),
      runs,
    );
  });
});
