import type { Change, ChangeSetParts, IdKind, NameKind } from "./change.js";
import { quoteDotted, quoteIdentifier } from "./changes-quoting.js";

/** Sums a commit's recorded operations up. */
export function collectChanges(changes: Iterable<Change>): ChangeSetParts {
  const collector = new Collector();
  for (const change of changes) collector.add(change);
  return collector.parts();
}

class Collector {
  readonly #ids = new Map<IdKind, Set<bigint>>();
  readonly #names = new Map<NameKind, Set<string>>();
  readonly #deletedDataFileIds = new Set<bigint>();
  readonly #untargetedDeleteTableIds = new Set<bigint>();
  readonly #createdInSchemaIds = new Set<bigint>();
  readonly #schemaChangedIds = new Set<bigint>();
  #schemaChanged = false;
  #operations = 0;

  add(change: Change): void {
    this.#operations++;
    switch (change.op) {
      case "create_schema":
        this.#name("created_schema", quoteIdentifier(change.name));
        this.#schemaChanged = true;
        return;
      case "drop_schema":
        return this.#ddl("dropped_schema", change.schemaId);
      case "tag_schema":
        this.#schemaChanged = true;
        return;
      case "create_table":
        this.#schemaChangedIds.add(change.tableId);
        return this.#created("created_table", change);
      case "create_view":
        this.#schemaChangedIds.add(change.viewId);
        return this.#created("created_view", change);
      case "create_macro":
        return this.#created(change.macroType === "scalar" ? "created_scalar_macro" : "created_table_macro", change);
      case "alter_table":
        this.#schemaChangedIds.add(change.tableId);
        return this.#ddl("altered_table", change.tableId);
      case "alter_view":
        this.#schemaChangedIds.add(change.viewId);
        return this.#ddl("altered_view", change.viewId);
      case "drop_table":
        return this.#ddl("dropped_table", change.tableId);
      case "drop_view":
        return this.#ddl("dropped_view", change.viewId);
      case "drop_macro":
        return this.#ddl(
          change.macroType === "scalar" ? "dropped_scalar_macro" : "dropped_table_macro",
          change.macroId,
        );
      case "alter_table_layout":
        return this.#id("altered_table", change.tableId);
      case "insert":
        return this.#id("inserted_into_table", change.tableId);
      case "delete_from_file":
        this.#deletedDataFileIds.add(change.dataFileId);
        return this.#id("deleted_from_table", change.tableId);
      case "delete_inline":
        this.#untargetedDeleteTableIds.add(change.tableId);
        // Whether the row is inline shows when the commit is prepared.
        this.#id("inlined_delete", change.tableId);
        return this.#id("deleted_from_table", change.tableId);
      case "flush_inline":
        return this.#id("inline_flush", change.tableId);
      case "merge_adjacent":
      case "rewrite_delete":
        return this.#id(change.op, change.tableId);
      case "stats":
        return;
    }
  }

  parts(): ChangeSetParts {
    return {
      ids: this.#ids,
      names: this.#names,
      deletedDataFileIds: this.#deletedDataFileIds,
      untargetedDeleteTableIds: this.#untargetedDeleteTableIds,
      createdInSchemaIds: this.#createdInSchemaIds,
      schemaChangedIds: this.#schemaChangedIds,
      schemaChanged: this.#schemaChanged,
      unknown: false,
      operations: this.#operations,
    };
  }

  #created(
    kind: NameKind,
    change: { readonly schemaId: bigint; readonly schemaName: string; readonly name: string },
  ): void {
    this.#name(kind, quoteDotted(change.schemaName, change.name));
    this.#createdInSchemaIds.add(change.schemaId);
    this.#schemaChanged = true;
  }

  #ddl(kind: IdKind, id: bigint): void {
    this.#id(kind, id);
    this.#schemaChanged = true;
  }

  #id(kind: IdKind, id: bigint): void {
    const known = this.#ids.get(kind);
    if (known === undefined) this.#ids.set(kind, new Set([id]));
    else known.add(id);
  }

  #name(kind: NameKind, payload: string): void {
    const known = this.#names.get(kind);
    if (known === undefined) this.#names.set(kind, new Set([payload]));
    else known.add(payload);
  }
}
