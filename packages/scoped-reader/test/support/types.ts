/** One indexable column type: how SQL makes random values of it out of a row number `i` and a random `r` in [0, 1). */
export interface SampleType {
  readonly columnType: string;
  readonly sql: string;
  readonly edges: readonly string[];
}

const signed = (bits: number): readonly string[] => [
  `(${-(2n ** BigInt(bits - 1))})`,
  `${2n ** BigInt(bits - 1) - 1n}`,
  "0",
  "(-1)",
];
const unsigned = (bits: number): readonly string[] => [`${2n ** BigInt(bits) - 1n}`, "0", "1"];

/** Every indexable type, with values at the ends of its range. */
export const sampleTypes: readonly SampleType[] = [
  { columnType: "TINYINT", sql: "(r * 250 - 125)::TINYINT", edges: signed(8) },
  { columnType: "SMALLINT", sql: "(r * 60000 - 30000)::SMALLINT", edges: signed(16) },
  { columnType: "INTEGER", sql: "(r * 4e9 - 2e9)::INTEGER", edges: signed(32) },
  { columnType: "BIGINT", sql: "(r * 1.8e19 - 9e18)::BIGINT", edges: signed(64) },
  { columnType: "UTINYINT", sql: "(r * 255)::UTINYINT", edges: unsigned(8) },
  { columnType: "USMALLINT", sql: "(r * 65535)::USMALLINT", edges: unsigned(16) },
  { columnType: "UINTEGER", sql: "(r * 4294967295)::UINTEGER", edges: unsigned(32) },
  { columnType: "UBIGINT", sql: "(r * 1.8e19)::UBIGINT", edges: unsigned(64) },
  { columnType: "FLOAT", sql: "((r - 0.5) * 1e30)::FLOAT", edges: ["'nan'", "'inf'", "'-inf'", "'-0'", "1e-45"] },
  { columnType: "DOUBLE", sql: "((r - 0.5) * 1e300)::DOUBLE", edges: ["'nan'", "'inf'", "'-inf'", "'-0'", "5e-324"] },
  { columnType: "BOOLEAN", sql: "r < 0.5", edges: ["true", "false"] },
  {
    columnType: "VARCHAR",
    sql: "repeat('x', (r * 5)::INT) || hash(i)::VARCHAR",
    edges: ["''", "'\u{1f600} \u00e4'", "repeat('long', 1000)"],
  },
  { columnType: "JSON", sql: "json_object('k', r)", edges: ["'{}'", "'[1, 2]'"] },
  { columnType: "BLOB", sql: "unhex(md5(r::VARCHAR))", edges: ["''::BLOB", "'\\x00\\x01\\xFF'::BLOB"] },
  {
    columnType: "UUID",
    sql: "md5(r::VARCHAR)::UUID",
    edges: [
      "'00000000-0000-0000-0000-000000000000'",
      "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
      "'80000000-0000-0000-0000-000000000001'",
    ],
  },
  {
    columnType: "DATE",
    sql: "DATE '1970-01-01' + (r * 100000 - 50000)::INT",
    edges: ["'0001-01-01'", "'9999-12-31'", "'infinity'", "'-infinity'"],
  },
  {
    columnType: "TIME",
    sql: "TIME '00:00:00' + to_microseconds((r * 86399999999)::BIGINT)",
    edges: ["'00:00:00'", "'23:59:59.999999'", "'24:00:00'"],
  },
  {
    columnType: "TIMESTAMP",
    sql: "make_timestamp((r * 4e15 - 2e15)::BIGINT)",
    edges: ["'1969-12-31 23:59:59.999999'", "'0001-01-01'", "'infinity'", "'-infinity'"],
  },
  {
    columnType: "TIMESTAMP_S",
    sql: "make_timestamp((r * 4e9 - 2e9)::BIGINT * 1000000)::TIMESTAMP_S",
    edges: ["'1969-12-31 23:59:59'", "'2262-04-11'"],
  },
  {
    columnType: "TIMESTAMP_MS",
    sql: "make_timestamp_ms((r * 4e12 - 2e12)::BIGINT)::TIMESTAMP_MS",
    edges: ["'1969-12-31 23:59:59.999'", "'9999-12-31'"],
  },
  {
    columnType: "TIMESTAMP_NS",
    sql: "make_timestamp_ns((r * 4e18 - 2e18)::BIGINT)",
    edges: ["'1969-12-31 23:59:59.999999999'", "'2262-04-11 23:47:16.854775806'"],
  },
  {
    columnType: "TIMESTAMPTZ",
    sql: "make_timestamptz((r * 4e15 - 2e15)::BIGINT)",
    edges: ["'1969-12-31 23:59:59.999999+00'", "'infinity'"],
  },
  { columnType: "DECIMAL(4,1)", sql: "((r - 0.5) * 1990)::DECIMAL(4,1)", edges: ["(-999.9)", "999.9", "0"] },
  { columnType: "DECIMAL(9,2)", sql: "((r - 0.5) * 1e7)::DECIMAL(9,2)", edges: ["(-9999999.99)", "9999999.99"] },
  {
    columnType: "DECIMAL(18,6)",
    sql: "((r - 0.5) * 1e11)::DECIMAL(18,6)",
    edges: ["(-999999999999.999999)", "999999999999.999999"],
  },
  {
    columnType: "DECIMAL(38,10)",
    sql: "((r - 0.5) * 1e20)::DECIMAL(38,10)",
    edges: [`(-${"9".repeat(28)}.${"9".repeat(10)})`, `${"9".repeat(28)}.${"9".repeat(10)}`],
  },
];

/** A query of `rows` rows with a column `c` of the type: edges first, then random values, every seventh NULL when asked for. */
export function sampleQuery(type: SampleType, rows: number, nulls: boolean, seed = 0): string {
  const edges = type.edges.map((edge, i) => `WHEN ${i} THEN ${edge}::${type.columnType}`).join(" ");
  const value = `CASE i ${edges} ELSE (${type.sql})::${type.columnType} END`;
  const guarded = nulls ? `CASE WHEN i % 7 = 5 THEN NULL ELSE ${value} END` : value;
  const random = `hash(i * 2 + ${seed} * 1000003) / 18446744073709551616.0`;
  return `SELECT (${guarded})::${type.columnType} AS c FROM (SELECT i, (${random})::DOUBLE AS r FROM range(${rows}) t(i)) ORDER BY i`;
}
