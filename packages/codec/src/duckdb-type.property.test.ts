import fc from "fast-check";
import { expect, test } from "vitest";
import { MoraineError, parseDuckDbType, type DuckDbType } from "./index.js";

/** What a type is, without the text that it was read from. */
interface Shape {
  name: string;
  precision?: number;
  scale?: number;
  size?: number;
  children: { name: string; type: Shape }[];
}

function shapeOf({ name, precision, scale, size, children }: DuckDbType): Shape {
  return {
    name,
    ...(precision === undefined ? {} : { precision }),
    ...(scale === undefined ? {} : { scale }),
    ...(size === undefined ? {} : { size }),
    children: children.map((child) => ({ name: child.name, type: shapeOf(child.type) })),
  };
}

// DuckDB quotes a name that is not lower case letters, digits and underscores, or that is a keyword.
const plainName = /^[a-z_][a-z0-9_]*$/;
const fieldName = (name: string, quote: boolean) =>
  quote || !plainName.test(name) ? `"${name.replaceAll('"', '""')}"` : name;

/** As DuckDB's `LogicalType::ToString` prints it. */
function print({ name, precision, scale, size, children }: Shape, quote: boolean): string {
  const child = (at: number) => print(children[at]!.type, quote);
  switch (name) {
    case "LIST":
      return `${child(0)}[]`;
    case "ARRAY":
      return `${child(0)}[${size}]`;
    case "MAP":
      return `MAP(${child(0)}, ${child(1)})`;
    case "STRUCT":
    case "UNION":
      return `${name}(${children
        .map((field, at) => (field.name === "" ? child(at) : `${fieldName(field.name, quote)} ${child(at)}`))
        .join(", ")})`;
    case "DECIMAL":
      return `DECIMAL(${precision},${scale})`;
    case "NULL":
      return '"NULL"';
    default:
      return name;
  }
}

const arbitraryName = fc.oneof(
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
  fc.constantFrom("time", "timestamp", "struct", "NULL", "double", 'a"b', "a, b)", "[]"),
);
const scalar = fc.oneof(
  fc
    .constantFrom(
      "BIGINT",
      "VARCHAR",
      "TIMESTAMP",
      "TIMESTAMP WITH TIME ZONE",
      "TIME WITH TIME ZONE",
      "UUID",
      "NULL",
      "JSON",
    )
    .map((name): Shape => ({ name, children: [] })),
  fc
    .integer({ min: 1, max: 38 })
    .chain((precision) =>
      fc
        .integer({ min: 0, max: precision })
        .map((scale): Shape => ({ name: "DECIMAL", precision, scale, children: [] })),
    ),
);
const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    scalar,
    tie("shape").map((type): Shape => ({ name: "LIST", children: [{ name: "element", type }] })),
    fc
      .tuple(tie("shape"), fc.integer({ min: 1, max: 100_000 }))
      .map(([type, size]): Shape => ({ name: "ARRAY", size, children: [{ name: "element", type }] })),
    fc.tuple(tie("shape"), tie("shape")).map(([key, value]): Shape => ({
      name: "MAP",
      children: [
        { name: "key", type: key },
        { name: "value", type: value },
      ],
    })),
    fc
      .array(tie("shape"), { minLength: 1, maxLength: 3 })
      .map((types): Shape => ({ name: "STRUCT", children: types.map((type) => ({ name: "", type })) })),
    fc
      .tuple(
        fc.constantFrom("STRUCT", "UNION"),
        fc.array(fc.record({ name: arbitraryName, type: tie("shape") }), { minLength: 1, maxLength: 3 }),
      )
      .map(([name, children]): Shape => ({ name, children })),
  ),
}));

test("every type is read as what DuckDB printed", () => {
  fc.assert(
    fc.property(shape, fc.boolean(), (type, quote) => {
      const text = print(type, quote);
      const parsed = parseDuckDbType(text);
      expect(shapeOf(parsed)).toEqual(type);
      expect(parsed.text).toBe(text);
    }),
  );
});

test("any text is a type or is refused", () => {
  const piece = fc.constantFrom(
    "STRUCT(",
    "MAP(",
    "a ",
    '"',
    "INTEGER",
    "[",
    "]",
    "[3]",
    ")",
    ",",
    "'",
    " ",
    "DECIMAL(3,1)",
    "é",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece, { maxLength: 12 }).map((parts) => parts.join("")),
        fc.string(),
      ),
      (text) => {
        try {
          expect(parseDuckDbType(text).text).toBe(text.trim());
        } catch (error) {
          expect(error).toBeInstanceOf(MoraineError);
          expect((error as MoraineError).code).toBe("invalid_argument");
        }
      },
    ),
  );
});
