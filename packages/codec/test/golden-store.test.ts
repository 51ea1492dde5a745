import { expect, test } from "vitest";
import {
  ChangelogValue,
  decodeKey,
  decodeRowId,
  decodeValue,
  encodeKey,
  encodeRowId,
  encodeValue,
  entityMessages,
  equalValue,
  FormatValue,
  GcFileValue,
  HeadValue,
  InlineChunkRangeValue,
  InlineChunkValue,
  InlineFileDeleteTableValue,
  InlineFileDeleteValue,
  InlineInlineDeleteValue,
  InlineSchemaDroppedValue,
  InlineSchemaValue,
  type Key,
  LakesValue,
  LooseRowsValue,
  MaintenanceStatusValue,
  type MessageType,
  MigrationValue,
  SchemaVersionValue,
  SnapshotValue,
} from "../src/index.js";
import { fromHex, readGolden, toHex } from "./support/golden.js";

interface Batch {
  readonly puts?: readonly { key: string; value: string; key_reading: string }[];
  readonly deletes?: readonly unknown[];
}

const { about, ...scripts } = readGolden<Record<string, Batch[]> & { about: unknown }>("store.json");

const inlineMessages = {
  schema: InlineSchemaValue,
  schema_dropped: InlineSchemaDroppedValue,
  chunk: InlineChunkValue,
  row_delete: InlineInlineDeleteValue,
  row_tombstone: InlineInlineDeleteValue,
  file_delete: InlineFileDeleteValue,
  file_delete_table: InlineFileDeleteTableValue,
  chunk_locator: InlineChunkRangeValue,
  chunk_range: InlineChunkRangeValue,
} as const;

const sysMessages = {
  format: FormatValue,
  head: HeadValue,
  migration: MigrationValue,
  maintenance_status: MaintenanceStatusValue,
  loose_rows: LooseRowsValue,
  lakes: LakesValue,
} as const;

/** The message of a key's value; `undefined` for index entries, whose values have no frame. */
function messageOf(key: Key): MessageType<object> | undefined {
  switch (key.subspace) {
    case "sys":
      return sysMessages[key.kind];
    case "snapshot":
      return SnapshotValue;
    case "changelog":
      return ChangelogValue;
    case "schema_version":
      return SchemaVersionValue;
    case "gc_file":
      return GcFileValue;
    case "current":
    case "history":
      return entityMessages[key.entity.kind];
    case "inline":
      return inlineMessages[key.kind];
    case "index":
      return undefined;
  }
}

test.each(Object.entries(scripts))("every record of %s decodes, and encodes to its own bytes", (_name, batches) => {
  expect(about).toBeDefined();
  let records = 0;
  for (const put of batches.flatMap((batch) => batch.puts ?? [])) {
    const key = decodeKey(fromHex(put.key));
    expect(toHex(encodeKey(key)), put.key_reading).toBe(put.key);
    const message = messageOf(key);
    const bytes = fromHex(put.value);
    if (message !== undefined) {
      const value = decodeValue(message, bytes);
      expect(toHex(encodeValue(message, value)), put.key_reading).toBe(put.value);
      expect(equalValue(message, value, decodeValue(message, encodeValue(message, value)))).toBe(true);
    } else if (bytes.length > 0) {
      expect(toHex(encodeRowId(decodeRowId(bytes)))).toBe(put.value);
    }
    records++;
  }
  expect(records).toBeGreaterThan(0);
});

test("changelogs hold current keys in ascending order", () => {
  for (const put of Object.values(scripts).flatMap((batches) => batches.flatMap((batch) => batch.puts ?? []))) {
    if (!put.key.startsWith("09")) continue;
    const { keys } = decodeValue(ChangelogValue, fromHex(put.value));
    expect(keys.map((key) => decodeKey(key).subspace).every((subspace) => subspace === "current")).toBe(true);
    expect(keys.map(toHex)).toEqual(keys.map(toHex).toSorted());
  }
});
