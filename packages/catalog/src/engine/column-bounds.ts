import { ConstraintError, type IndexableType, parseColumnType } from "@moraine/codec";
import type { CommitDraft } from "../operations.js";

interface Bounds {
  readonly min: string;
  /** `undefined`: none. DuckLake takes that for text alone: of a number it would conclude that there is no value. */
  readonly max: string | undefined;
}

/**
 * Widens what DuckLake is told of the values of a table's columns to all that their types can hold, where a commit adds rows and
 * does not say itself what that makes of it. Rows outside of the bounds would not be looked for, and no bounds at all stand for a
 * column without values, which the next rows of DuckLake's own then make narrow again.
 */
export function widenColumnBounds(draft: CommitDraft): void {
  for (const change of draft.entityChanges()) {
    if (change.kind !== "table_stats" || change.before === undefined || change.after === undefined) continue;
    if (change.after.nextRowId > change.before.nextRowId) widenTable(draft, change.after.tableId);
  }
}

function widenTable(draft: CommitDraft, tableId: bigint): void {
  for (const stats of draft.list("table_column_stats", tableId)) {
    const { columnId, minValue, maxValue } = stats;
    if (draft.base.get("table_column_stats", tableId, columnId) !== stats) continue;
    const column = draft.get("column", tableId, columnId);
    const type = column === undefined ? undefined : typeOf(column.columnType);
    if (type === undefined) continue;
    const { min, max } = boundsOf(type);
    const containsNan = type.logical === "float" ? true : stats.containsNan;
    if (minValue === min && maxValue === max && stats.containsNull === true && stats.containsNan === containsNan)
      continue;
    const widened = { ...stats, containsNull: true, containsNan, minValue: min, maxValue: max };
    draft.put("table_column_stats", [tableId, columnId], widened);
  }
}

/** `undefined` for types whose values have no plain form: DuckLake keeps no bounds of most of them. */
function typeOf(columnType: string): IndexableType | undefined {
  try {
    return parseColumnType(columnType);
  } catch (error) {
    if (error instanceof ConstraintError) return undefined;
    throw error;
  }
}

/** The least and the greatest value of a type, as DuckDB writes them. */
function boundsOf({ logical, valueType, precision = 0, scale = 0 }: IndexableType): Bounds {
  switch (logical) {
    case "integer": {
      const bits = BigInt(valueType.replace(/^u?int/u, ""));
      if (valueType.startsWith("u")) return { min: "0", max: String(2n ** bits - 1n) };
      return { min: String(-(2n ** (bits - 1n))), max: String(2n ** (bits - 1n) - 1n) };
    }
    case "decimal": {
      const whole = "9".repeat(precision - scale) || "0";
      const max = scale === 0 ? whole : `${whole}.${"9".repeat(scale)}`;
      return { min: `-${max}`, max };
    }
    case "float":
      return { min: "-inf", max: "inf" };
    case "boolean":
      return { min: "false", max: "true" };
    case "date":
    case "timestamp":
      return { min: "-infinity", max: "infinity" };
    case "time":
      return { min: "00:00:00", max: "24:00:00" };
    case "uuid":
      return { min: "00000000-0000-0000-0000-000000000000", max: "ffffffff-ffff-ffff-ffff-ffffffffffff" };
    case "string":
    case "blob":
      return { min: "", max: undefined };
  }
}
