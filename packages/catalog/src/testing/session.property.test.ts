import { type ColumnId, MoraineError, type SchemaId } from "@moraine/codec";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Draft } from "../model/draft.js";
import { diffOrder } from "../model/entities.js";
import type { CatalogReader, CatalogState } from "../model/state.js";
import { CatalogSnapshot } from "../model/view.js";
import { registerDataFile } from "../verbs/data-files.js";
import { registerDeleteFile } from "../verbs/delete-files.js";
import { createIndexDefinition } from "../verbs/index-definitions.js";
import { createSchema } from "../verbs/schemas.js";
import { createTable } from "../verbs/tables.js";
import { callRandomVerb, type RandomVerb, randomVerb, randomVerbCount } from "./random-verbs.js";
import { Session } from "./session.js";

/** Everything that a reader can tell, lookups by name included. */
function contents(reader: CatalogReader): unknown {
  return {
    entities: diffOrder.map((kind) => [kind, [...reader.entries(kind)]]),
    names: reader.list("schema").map((schema) => ({
      byName: reader.schemaByName(schema.schemaName),
      isEmpty: reader.isSchemaEmpty(schema.schemaId),
      tables: reader.tablesIn(schema.schemaId).map((table) => reader.tableByName(schema.schemaId, table.tableName)),
      views: reader.viewsIn(schema.schemaId).map((view) => reader.viewByName(schema.schemaId, view.viewName)),
      macros: reader.macrosIn(schema.schemaId),
      indexes: ["a", "b", 'Q"1'].map((name) => reader.indexesInSchemaByFoldedName(schema.schemaId, name)),
    })),
    deletes: reader.list("data_file").map((file) => reader.deleteFilesOf(file.tableId, file.dataFileId)),
    indexes: reader.list("index").map((index) => reader.indexById(index.indexId)),
  };
}

/** The parts that time travel rebuilds: versioned kinds, and tags, which carry their own times. */
function versionedView(state: CatalogState | Draft): unknown {
  const snapshot = new CatalogSnapshot(state);
  return snapshot.schemas().map((schema) => ({
    schema,
    views: snapshot.viewsIn(schema.id),
    macros: snapshot.macrosIn(schema.id),
    tables: snapshot.tablesIn(schema.id).map((table) => ({
      table,
      tags: snapshot.tagsOf(table.id).map(({ key, value }) => [key, value]),
      columns: snapshot.columnsOf(table.id),
      partitioning: snapshot.partitioningOf(table.id),
      sorting: snapshot.sortingOf(table.id),
      indexes: snapshot.indexesOf(table.id),
      files: snapshot.dataFilesOf(table.id),
      deletes: snapshot.deleteFilesOf(table.id),
    })),
  }));
}

/** Calls verbs in a draft; a refused one must leave it as it was. Gives the number of refusals. */
function callAll(draft: Draft, calls: readonly RandomVerb[]): number {
  let refused = 0;
  for (const call of calls) {
    const before = {
      contents: contents(draft),
      next: [draft.nextCatalogId, draft.nextFileId],
      text: draft.changes.toText(),
    };
    try {
      callRandomVerb(draft, call);
    } catch (error) {
      if (!(error instanceof MoraineError)) throw error;
      refused++;
      expect(error.message).not.toMatch(/conflict|concurrent|unique|primary key/i);
      expect(error.remedy).not.toMatch(/conflict|concurrent|unique|primary key/i);
      expect({
        contents: contents(draft),
        next: [draft.nextCatalogId, draft.nextFileId],
        text: draft.changes.toText(),
      }).toEqual(before);
    }
  }
  return refused;
}

/** A session with something in it, so that short sequences meet tables, files and indexes. */
function populated(): Session {
  const session = new Session();
  session.commit((draft) => {
    const schema = createSchema(draft, { name: "a" });
    for (const [at, name] of ["a", "b"].entries()) {
      const table = createTable(draft, {
        schema: at === 0 ? (0n as SchemaId) : schema,
        name,
        columns: [
          { name: "a", columnType: "BIGINT" },
          { name: "b", columnType: "VARCHAR" },
        ],
      });
      const file = { path: "f", recordCount: 3, fileSizeBytes: 9, footerSize: 1 };
      const { dataFileId } = registerDataFile(draft, { table, file });
      registerDeleteFile(draft, {
        table,
        file: { dataFileId, path: "d", deleteCount: 1, fileSizeBytes: 9, footerSize: 1 },
      });
      createIndexDefinition(draft, { table, name: `q${name}`, columns: [1n as ColumnId] });
    }
  });
  return session;
}

const commits = fc.array(fc.array(randomVerb, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 14 });

describe("a session of random verbs", () => {
  it("leaves in memory what a fresh load reads, after every commit", () => {
    fc.assert(
      fc.property(commits, (sequence) => {
        const session = populated();
        for (const calls of sequence) {
          const before = session.state;
          const draft = session.draft();
          callAll(draft, calls);
          const [changes, gcChanges] = [draft.entityChanges(), draft.gcChanges()];
          session.land(draft);
          const fresh = session.records.head();
          expect(contents(session.state)).toEqual(contents(fresh));
          expect(session.state.head).toEqual(fresh.head);
          expect(session.state.batchSeq).toBe(fresh.batchSeq);
          const applied = before.apply(changes, gcChanges, session.state.head, session.state.batchSeq);
          expect(contents(applied)).toEqual(contents(fresh));
        }
      }),
      { numRuns: 25 },
    );
  });

  it("can be read back at every snapshot that it made", () => {
    fc.assert(
      fc.property(commits, (sequence) => {
        const session = populated();
        for (const calls of sequence) session.commit((draft) => callAll(draft, calls));
        for (const [snapshotId, state] of session.states) {
          expect(versionedView(session.records.at(snapshotId))).toEqual(versionedView(state));
        }
      }),
      { numRuns: 40 },
    );
  });

  it("returns to a savepoint exactly", () => {
    fc.assert(
      fc.property(
        commits,
        fc.array(randomVerb, { maxLength: 20 }),
        fc.array(randomVerb, { maxLength: 20 }),
        (sequence, kept, undone) => {
          const session = populated();
          for (const calls of sequence) session.commit((draft) => callAll(draft, calls));
          const draft = session.draft();
          callAll(draft, kept);
          const before = [contents(draft), draft.entityChanges(), draft.changes.toText(), draft.newFileColumnStats];
          const savepoint = draft.savepoint();
          callAll(draft, undone);
          draft.rollback(savepoint);
          expect([contents(draft), draft.entityChanges(), draft.changes.toText(), draft.newFileColumnStats]).toEqual(
            before,
          );
          expect(contents(session.state)).toEqual(contents(session.records.head()));
        },
      ),
      { numRuns: 40 },
    );
  });

  it("never gives an id twice", () => {
    fc.assert(
      fc.property(commits, (sequence) => {
        const session = populated();
        const seen = new Map<string, string>();
        for (const calls of sequence) {
          session.commit((draft) => callAll(draft, calls));
          for (const index of session.state.list("index"))
            check(seen, `catalog ${index.indexId}`, `index ${index.indexId}`);
          for (const table of session.state.list("table"))
            check(seen, `catalog ${table.tableId}`, `table ${table.tableUuid}`);
          for (const view of session.state.list("view")) check(seen, `catalog ${view.viewId}`, `view ${view.viewUuid}`);
          for (const file of session.state.list("data_file"))
            check(seen, `file ${file.dataFileId}`, `rows ${file.rowIdStart} of ${file.tableId}`);
          for (const file of session.state.list("delete_file"))
            check(seen, `file ${file.deleteFileId}`, `delete ${file.deleteFileId}`);
          for (const column of session.state.list("column")) {
            check(seen, `column ${column.tableId}/${column.columnId}`, `parent ${column.parentColumn}`);
          }
        }
      }),
      { numRuns: 40 },
    );
  });
});

/** One id must always stand for the same thing. */
function check(seen: Map<string, string>, id: string, thing: string): void {
  const known = seen.get(id);
  if (known === undefined) seen.set(id, thing);
  else expect(thing).toBe(known);
}

describe("random verbs", () => {
  it("land and are refused, each of them", () => {
    const landed = new Set<number>();
    const refused = new Set<number>();
    const session = populated();
    for (const call of fc.sample(randomVerb, { numRuns: 3_000, seed: 7 })) {
      const count = session.commit((draft) => callAll(draft, [call]));
      (count === 0 ? landed : refused).add(call.verb % randomVerbCount);
    }
    expect(landed.size).toBe(randomVerbCount);
    expect(refused.size).toBeGreaterThan(randomVerbCount - 3);
  });
});
