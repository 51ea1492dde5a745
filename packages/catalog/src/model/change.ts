export type MacroType = "scalar" | "table";

/** One operation of a commit, as a verb records it. What each one means for others is in format.md 5.4. */
export type Change =
  | { readonly op: "create_schema"; readonly name: string }
  | { readonly op: "drop_schema"; readonly schemaId: bigint }
  /** A tag on a schema: leaves no text, yet readers must look again. */
  | { readonly op: "tag_schema" }
  | {
      readonly op: "create_table";
      readonly tableId: bigint;
      readonly schemaId: bigint;
      readonly schemaName: string;
      readonly name: string;
    }
  | { readonly op: "alter_table"; readonly tableId: bigint }
  /** An alteration that changes no reader's schema: sorting, the end of a deferred repair. */
  | { readonly op: "alter_table_layout"; readonly tableId: bigint }
  | { readonly op: "drop_table"; readonly tableId: bigint }
  | {
      readonly op: "create_view";
      readonly viewId: bigint;
      readonly schemaId: bigint;
      readonly schemaName: string;
      readonly name: string;
    }
  | { readonly op: "alter_view"; readonly viewId: bigint }
  | { readonly op: "drop_view"; readonly viewId: bigint }
  | {
      readonly op: "create_macro";
      readonly macroType: MacroType;
      readonly schemaId: bigint;
      readonly schemaName: string;
      readonly name: string;
    }
  | { readonly op: "drop_macro"; readonly macroType: MacroType; readonly macroId: bigint }
  /** Rows came in: a data file, inline rows, a step of an index build. */
  | { readonly op: "insert"; readonly tableId: bigint }
  /** Rows of one data file died. */
  | { readonly op: "delete_from_file"; readonly tableId: bigint; readonly dataFileId: bigint }
  /** Rows died that belong to no data file: inline rows. */
  | { readonly op: "delete_inline"; readonly tableId: bigint }
  | { readonly op: "merge_adjacent"; readonly tableId: bigint }
  /** Inline rows went to data files. */
  | { readonly op: "flush_inline"; readonly tableId: bigint }
  | { readonly op: "rewrite_delete"; readonly tableId: bigint }
  /** Statistics: a snapshot is minted, and nothing is listed. */
  | { readonly op: "stats" };

/** The kinds whose payload is an id, in the order in which the text lists them between the kinds that carry names. */
export type IdKind =
  | "dropped_schema"
  | "dropped_table"
  | "dropped_view"
  | "dropped_scalar_macro"
  | "dropped_table_macro"
  | "inserted_into_table"
  | "deleted_from_table"
  | "inlined_delete"
  | "altered_table"
  | "altered_view"
  | "merge_adjacent"
  | "rewrite_delete"
  | "compacted_table"
  | "inline_flush"
  | "flushed_inlined";

export type NameKind =
  | "created_schema"
  | "created_table"
  | "created_view"
  | "created_scalar_macro"
  | "created_table_macro";

/** Everything that a change set can know. Fields that are marked "own" are empty in a set parsed from text. */
export interface ChangeSetParts {
  readonly ids: ReadonlyMap<IdKind, ReadonlySet<bigint>>;
  /** Rendered payloads, quoted: `"schema"."table"` or `"schema"`. */
  readonly names: ReadonlyMap<NameKind, ReadonlySet<string>>;
  /** Data files whose rows died. Parsed sets have them from `deleted_data_file_ids` of the snapshot record. */
  readonly deletedDataFileIds: ReadonlySet<bigint>;
  /** Tables with deletes that name no file. */
  readonly untargetedDeleteTableIds: ReadonlySet<bigint>;
  /** Own: schemas in which a table, view or macro was created. */
  readonly createdInSchemaIds: ReadonlySet<bigint>;
  /** Own: tables and views that get a schema_version record. */
  readonly schemaChangedIds: ReadonlySet<bigint>;
  /** Own: whether the commit raises schema_version. */
  readonly schemaChanged: boolean;
  /** Holds something that this version cannot read, so nothing may be assumed about it. */
  readonly unknown: boolean;
  /** Own: how many operations were recorded, those without text included. */
  readonly operations: number;
}
