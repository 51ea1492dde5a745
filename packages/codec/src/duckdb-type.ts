import { InvalidArgumentError } from "./errors.js";
import { maxCachedColumnTypes, maxCachedTypeChars, maxDuckDbTypeDepth } from "./limits.js";

/** A column type in DuckDB's own words, taken apart. */
export interface DuckDbType {
  /**
   * Upper case and without its parameters, the one name that DuckDB prints for it: `BIGINT`, `DECIMAL`, `STRUCT`, `LIST` (of
   * `T[]`), `ARRAY` (of `T[3]`), `MAP`, `UNION`, `TIMESTAMP WITH TIME ZONE`, `JSON`, `NULL`.
   */
  readonly name: string;
  /** As it was written. */
  readonly text: string;
  /** Of `DECIMAL`: all digits, 1 to 38, and those after the point. */
  readonly precision?: number;
  readonly scale?: number;
  /** Of `ARRAY`: how many elements each value has. */
  readonly size?: number;
  /**
   * The fields of a `STRUCT` (without names: `""`) or `UNION`; `key` and `value` of a `MAP`; `element` of a `LIST` or an `ARRAY`; the
   * fields of the struct by which DuckDB stores a `VARIANT`. Of others none.
   */
  readonly children: readonly DuckDbField[];
}

export interface DuckDbField {
  readonly name: string;
  readonly type: DuckDbType;
}

const canonicalNames = [
  "BOOLEAN",
  "TINYINT",
  "SMALLINT",
  "INTEGER",
  "BIGINT",
  "HUGEINT",
  "UTINYINT",
  "USMALLINT",
  "UINTEGER",
  "UBIGINT",
  "UHUGEINT",
  "FLOAT",
  "DOUBLE",
  "DATE",
  "TIME",
  "TIME_NS",
  "TIME WITH TIME ZONE",
  "TIMESTAMP",
  "TIMESTAMP_S",
  "TIMESTAMP_MS",
  "TIMESTAMP_NS",
  "TIMESTAMP WITH TIME ZONE",
  "INTERVAL",
  "VARCHAR",
  "JSON",
  "BLOB",
  "BIT",
  "BIGNUM",
  "UUID",
  "GEOMETRY",
  "VARIANT",
  "ENUM",
] as const;

/** DuckDB's own aliases: its `INT8` has eight bytes. Source: DuckDB, `BUILTIN_TYPES`. */
const aliases: Readonly<Record<string, string>> = {
  BOOL: "BOOLEAN",
  LOGICAL: "BOOLEAN",
  INT1: "TINYINT",
  INT2: "SMALLINT",
  SHORT: "SMALLINT",
  INT16: "SMALLINT",
  INT: "INTEGER",
  INT4: "INTEGER",
  INT32: "INTEGER",
  SIGNED: "INTEGER",
  INTEGRAL: "INTEGER",
  INT8: "BIGINT",
  INT64: "BIGINT",
  LONG: "BIGINT",
  OID: "BIGINT",
  INT128: "HUGEINT",
  UINT8: "UTINYINT",
  UINT16: "USMALLINT",
  UINT32: "UINTEGER",
  UINT64: "UBIGINT",
  UINT128: "UHUGEINT",
  REAL: "FLOAT",
  FLOAT4: "FLOAT",
  FLOAT8: "DOUBLE",
  "DOUBLE PRECISION": "DOUBLE",
  DATETIME: "TIMESTAMP",
  TIMESTAMP_US: "TIMESTAMP",
  TIMESTAMPTZ: "TIMESTAMP WITH TIME ZONE",
  TIMETZ: "TIME WITH TIME ZONE",
  BPCHAR: "VARCHAR",
  STRING: "VARCHAR",
  CHAR: "VARCHAR",
  NVARCHAR: "VARCHAR",
  TEXT: "VARCHAR",
  BYTEA: "BLOB",
  VARBINARY: "BLOB",
  BINARY: "BLOB",
  BITSTRING: "BIT",
  VARINT: "BIGNUM",
  GUID: "UUID",
};

const decimalNames = new Set(["DECIMAL", "NUMERIC", "DEC"]);
const structNames = new Set(["STRUCT", "ROW"]);
const scalarNames = new Map<string, string>([
  ...canonicalNames.map((name): [string, string] => [name, name]),
  ...Object.entries(aliases),
]);

/** The struct by which DuckDB stores a VARIANT. Source: DuckDB, `LogicalType::VARIANT`. */
const variantStruct =
  "STRUCT(keys VARCHAR[], children STRUCT(keys_index UINTEGER, values_index UINTEGER)[], " +
  '"values" STRUCT(type_id UTINYINT, byte_offset UINTEGER)[], data BLOB)';

const maxDecimalPrecision = 38;
const defaultDecimal = { precision: 18, scale: 3 } as const;
const maxArraySize = 100_000;

const cache = new Map<string, DuckDbType>();

/**
 * A type as DuckDB's `LogicalType::ToString` prints it, or as a column definition may name it: in any case, with any space.
 *
 * Errors: `invalid_argument` for all other text, for types that no column has (`ANY`, `TABLE`, a user's own) and for nesting
 * deeper than `maxDuckDbTypeDepth`. The message says where, not what: an enumeration holds values.
 */
export function parseDuckDbType(text: string): DuckDbType {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const parsed = new TypeParser(text).parse();
  if (text.length > maxCachedTypeChars) return parsed;
  if (cache.size >= maxCachedColumnTypes) cache.clear();
  cache.set(text, parsed);
  return parsed;
}

// Sticky: each matches at the parser's position only.
const space = /\s*/y;
const word = /[\p{L}_][\p{L}\p{N}_$]*/uy;
const zone = /\s+WITH\s+TIME\s+ZONE(?![\p{L}\p{N}_$])/iuy;
const precisionWord = /\s+PRECISION(?![\p{L}\p{N}_$])/iuy;
const quotedName = /"((?:[^"]|"")*)"/y;
const quotedText = /'(?:[^']|'')*'/y;
const digits = /\d{1,9}/y;
const nextIsType = /\s*[\p{L}_"]/uy;

class TypeParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): DuckDbType {
    this.#match(space);
    const type = this.#type(0);
    this.#match(space);
    if (this.#at !== this.#text.length) throw this.#refused("is followed by more text");
    return type;
  }

  /** `depth` is how many types are open around this one. */
  #type(depth: number): DuckDbType {
    if (depth >= maxDuckDbTypeDepth) throw this.#refused(`is nested deeper than ${maxDuckDbTypeDepth}`);
    const start = this.#at;
    let type = this.#base(start, depth);
    // Each pair of brackets wraps what stands before it, which is then one level deeper than it was read at.
    for (let wrapped = depth + 1; ; wrapped += 1) {
      const end = this.#at;
      if (!this.#skip("[")) {
        this.#at = end;
        return type;
      }
      if (wrapped >= maxDuckDbTypeDepth) throw this.#refused(`is nested deeper than ${maxDuckDbTypeDepth}`);
      type = this.#brackets(start, type);
    }
  }

  #brackets(start: number, element: DuckDbType): DuckDbType {
    const children = [{ name: "element", type: element }];
    if (this.#skip("]")) return { name: "LIST", text: this.#since(start), children };
    const size = this.#number();
    if (size < 1 || size > maxArraySize) throw this.#refused(`has an array of a size that is not 1 to ${maxArraySize}`);
    this.#expect("]");
    return { name: "ARRAY", text: this.#since(start), size, children };
  }

  #base(start: number, depth: number): DuckDbType {
    const quoted = this.#match(quotedName);
    if (quoted !== undefined) {
      // What DuckDB prints for the type of a bare NULL. Other names in quotes are a user's own types.
      if (quoted !== '"NULL"') throw this.#refused("is not a built-in one");
      return { name: "NULL", text: this.#since(start), children: [] };
    }
    const name = this.#typeName();
    if (decimalNames.has(name)) return this.#decimal(start);
    if (structNames.has(name)) return this.#fields("STRUCT", start, depth);
    if (name === "UNION") return this.#fields("UNION", start, depth);
    if (name === "MAP") return this.#map(start, depth);
    if (name === "NULL") return { name: "NULL", text: this.#since(start), children: [] };
    const scalar = scalarNames.get(name);
    if (scalar === undefined) throw this.#refused("is not a built-in one");
    if (scalar === "VARCHAR") this.#length();
    if (scalar === "GEOMETRY") this.#texts(0);
    if (scalar === "ENUM") this.#texts(1);
    const children = scalar === "VARIANT" ? parseDuckDbType(variantStruct).children : [];
    return { name: scalar, text: this.#since(start), children };
  }

  #typeName(): string {
    const first = this.#match(word)?.toUpperCase();
    if (first === undefined) throw this.#refused("is not a type");
    if ((first === "TIME" || first === "TIMESTAMP") && this.#match(zone) !== undefined)
      return `${first} WITH TIME ZONE`;
    if (first === "DOUBLE" && this.#match(precisionWord) !== undefined) return "DOUBLE PRECISION";
    return first;
  }

  #decimal(start: number): DuckDbType {
    let { precision, scale }: { precision: number; scale: number } = defaultDecimal;
    if (this.#open()) {
      precision = this.#number();
      scale = this.#skip(",") ? this.#number() : 0;
      this.#expect(")");
    }
    if (precision < 1 || precision > maxDecimalPrecision || scale > precision) {
      throw this.#refused(`has a decimal whose precision is not 1 to ${maxDecimalPrecision} or whose scale is more`);
    }
    return { name: "DECIMAL", text: this.#since(start), precision, scale, children: [] };
  }

  #map(start: number, depth: number): DuckDbType {
    this.#expect("(");
    this.#match(space);
    const key = this.#type(depth + 1);
    this.#expect(",");
    this.#match(space);
    const value = this.#type(depth + 1);
    this.#expect(")");
    return {
      name: "MAP",
      text: this.#since(start),
      children: [
        { name: "key", type: key },
        { name: "value", type: value },
      ],
    };
  }

  #fields(name: "STRUCT" | "UNION", start: number, depth: number): DuckDbType {
    this.#expect("(");
    const children: DuckDbField[] = [];
    do {
      this.#match(space);
      children.push({ name: this.#fieldName(), type: this.#type(depth + 1) });
    } while (this.#skip(","));
    this.#expect(")");
    const unnamed = children.filter((child) => child.name === "").length;
    if (unnamed > 0 && (unnamed < children.length || name === "UNION"))
      throw this.#refused("has a field without a name");
    return { name, text: this.#since(start), children };
  }

  /** The name before the type of a field, or `""` where the type comes at once: DuckDB prints those of a row so. */
  #fieldName(): string {
    const start = this.#at;
    const name = this.#match(quotedName)?.slice(1, -1).replaceAll('""', '"') ?? this.#match(word);
    if (name === undefined) throw this.#refused("has a field that is no name and no type");
    const end = this.#at;
    // Of `TIMESTAMP WITH TIME ZONE` the first word is no name, unless a type follows all the same.
    const zoned = /^time(stamp)?$/i.test(this.#since(start)) && this.#match(zone) !== undefined;
    const double = /^double$/i.test(this.#since(start)) && this.#match(precisionWord) !== undefined;
    const typed = !zoned && !double && this.#match(nextIsType) !== undefined;
    this.#at = typed ? end : start;
    if (typed) {
      if (name === "") throw this.#refused("has a field whose name is empty");
      this.#match(space);
      return name;
    }
    return "";
  }

  #length(): void {
    if (!this.#open()) return;
    this.#number();
    this.#expect(")");
  }

  /** Texts in quotes within parentheses, at least this many. */
  #texts(least: number): void {
    if (!this.#open()) {
      if (least > 0) throw this.#refused("has no list of values");
      return;
    }
    do {
      this.#match(space);
      if (this.#match(quotedText) === undefined) throw this.#refused("has a parameter that is no text");
    } while (this.#skip(","));
    this.#expect(")");
  }

  #open(): boolean {
    const before = this.#at;
    if (this.#skip("(")) return true;
    this.#at = before;
    return false;
  }

  #number(): number {
    this.#match(space);
    const text = this.#match(digits);
    if (text === undefined) throw this.#refused("has a parameter that is no number");
    return Number(text);
  }

  #expect(symbol: string): void {
    if (!this.#skip(symbol)) throw this.#refused(`has no "${symbol}" where one belongs`);
  }

  #skip(symbol: string): boolean {
    this.#match(space);
    if (!this.#text.startsWith(symbol, this.#at)) return false;
    this.#at += symbol.length;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #since(start: number): string {
    return this.#text.slice(start, this.#at);
  }

  #refused(reason: string): InvalidArgumentError {
    return new InvalidArgumentError(
      `the column type, of ${this.#text.length} characters, ${reason} (at character ${this.#at + 1})`,
      { remedy: "Name a built-in type of DuckDB as DuckDB prints it." },
    );
  }
}
