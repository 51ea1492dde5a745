import type { SchemaId, TableId, ViewId } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import type { OptionScope } from "../model/option-scope.js";
import { codeOf } from "../testing/errors.js";
import { Session } from "../testing/session.js";
import { recordDataPath, setOption, unsetOption } from "./options.js";
import { createTable } from "./tables.js";
import { removeTag, setTag } from "./tags.js";
import { createView } from "./views.js";

const main = 0n as SchemaId;

function start(): { session: Session; table: TableId; view: ViewId } {
  const session = new Session({ dataPath: "s3://lake/" });
  const ids = session.commit((draft) => ({
    table: createTable(draft, { schema: main, name: "t", columns: [{ name: "a", columnType: "BIGINT" }] }),
    view: createView(draft, { schema: main, name: "v", dialect: "duckdb", sql: "SELECT 1" }),
  }));
  return { session, ...ids };
}

describe("options", () => {
  it("answer from the table, then its schema, then everywhere", () => {
    const { session, table } = start();
    const scopes: OptionScope[] = ["global", { schema: main }, { table }];
    const read = (): (string | undefined)[] => scopes.map((scope) => session.snapshot.option(scope, "k"));
    expect(read()).toEqual([undefined, undefined, undefined]);
    session.commit((draft) => setOption(draft, { scope: "global", key: "k", value: "g" }));
    expect(read()).toEqual(["g", "g", "g"]);
    session.commit((draft) => setOption(draft, { scope: { table }, key: "k", value: "t" }));
    session.commit((draft) => setOption(draft, { scope: { schema: main }, key: "k", value: "s" }));
    expect(read()).toEqual(["g", "s", "t"]);
    session.commit((draft) => unsetOption(draft, { scope: { table }, key: "k" }));
    expect(read()).toEqual(["g", "s", "s"]);
    expect(session.state.get("option", 2n, table)).toBeUndefined();
  });

  it("make no snapshot, and move the batch number", () => {
    const { session } = start();
    const { head, batchSeq } = session.state;
    const draft = session.draft();
    setOption(draft, { scope: "global", key: "k", value: "v" });
    expect(draft.changes.isEmpty).toBe(true);
    expect(draft.mintsSnapshot).toBe(false);
    const batch = session.land(draft);
    expect([...batch.puts.keys()].map((key) => key.slice(0, 6)).sort()).toEqual(["0203", "04020d"]);
    expect(session.state.head).toBe(head);
    expect(session.state.batchSeq).toBe(batchSeq + 1n);
  });

  it("write nothing when nothing changes", () => {
    const { session } = start();
    session.commit((draft) => setOption(draft, { scope: "global", key: "k", value: "v" }));
    const draft = session.draft();
    unsetOption(draft, { scope: "global", key: "not there" });
    setOption(draft, { scope: "global", key: "k", value: "v" });
    expect(draft.isEmpty).toBe(true);
  });

  it("need a live scope and a key, and keep the global encrypted and data_path as they are", () => {
    const { session, table } = start();
    const draft = session.draft();
    const set = (scope: OptionScope, key: string) => codeOf(() => setOption(draft, { scope, key, value: "v" }));
    expect(set({ table: 99n as TableId }, "k")).toBe("not_found");
    expect(set({ schema: 99n as SchemaId }, "k")).toBe("not_found");
    expect(set("global", "")).toBe("invalid_argument");
    expect(set("global", "encrypted")).toBe("constraint");
    expect(codeOf(() => unsetOption(draft, { scope: "global", key: "encrypted" }))).toBe("constraint");
    expect(set("global", "data_path")).toBe("constraint");
    expect(codeOf(() => unsetOption(draft, { scope: "global", key: "data_path" }))).toBe("constraint");
    expect(codeOf(() => recordDataPath(draft, "elsewhere/"))).toBe("constraint");
    expect(set({ table }, "encrypted")).toBeUndefined();
    expect(set("everywhere" as "global", "k")).toBe("invalid_argument");
    expect(set({} as { table: TableId }, "k")).toBe("invalid_argument");
  });

  it("hold the data path of the store", () => {
    expect(start().session.snapshot.dataPath()).toBe("s3://lake/");
    expect(new Session().snapshot.dataPath()).toBeUndefined();
  });
});

describe("tags", () => {
  const read = (session: Session, object: SchemaId | TableId | ViewId, at = session.state.head.snapshotId): string[] =>
    session
      .at(at)
      .tagsOf(object)
      .map(({ key, value }) => `${key}=${value}`);

  it("supersede by key, side by side with others, and stay in the past", () => {
    const { session, table } = start();
    session.commit((draft) => setTag(draft, { target: { table }, key: "owner", value: "ann" }));
    session.commit((draft) => setTag(draft, { target: { table }, key: "comment", value: "first" }));
    session.commit((draft) => setTag(draft, { target: { table }, key: "comment", value: "second" }));
    session.commit((draft) => removeTag(draft, { target: { table }, key: "owner" }));
    expect(read(session, table)).toEqual(["comment=second"]);
    expect(read(session, table, 2n)).toEqual(["owner=ann"]);
    expect(read(session, table, 3n)).toEqual(["comment=first", "owner=ann"]);
    expect(read(session, table, 4n)).toEqual(["comment=second", "owner=ann"]);
    expect(session.at(3n).tagsOf(table)[0]).toEqual({
      beginSnapshot: 3n,
      endSnapshot: 4n,
      key: "comment",
      value: "first",
    });
    expect(session.state.get("tag", table)?.entries).toHaveLength(3);
  });

  it("raise the schema version, on tables, schemas and views alike", () => {
    const { session, table, view } = start();
    const texts = [];
    for (const target of [{ table }, { schema: main }, { view }] as const) {
      session.commit((draft) => setTag(draft, { target, key: "k", value: "v" }));
      texts.push(session.state.head.changesMade);
    }
    expect(texts).toEqual([`altered_table:${table}`, "", `altered_view:${view}`]);
    expect(session.state.head.schemaVersion).toBe(4n);
    expect(read(session, view)).toEqual(["k=v"]);
    expect(read(session, main)).toEqual(["k=v"]);
  });

  it("keep the last value of a commit, and nothing of one that was set and removed in it", () => {
    const { session, table } = start();
    session.commit((draft) => {
      setTag(draft, { target: { table }, key: "k", value: "1" });
      setTag(draft, { target: { table }, key: "k", value: "2" });
      setTag(draft, { target: { table }, key: "gone", value: "x" });
      removeTag(draft, { target: { table }, key: "gone" });
    });
    expect(session.state.get("tag", table)?.entries).toEqual([
      { beginSnapshot: 2n, endSnapshot: undefined, key: "k", value: "2", isNull: false },
    ]);
    session.commit((draft) => {
      removeTag(draft, { target: { table }, key: "k" });
      setTag(draft, { target: { table }, key: "k", value: "3" });
    });
    expect(session.state.get("tag", table)?.entries.map((entry) => [entry.value, entry.endSnapshot])).toEqual([
      ["2", 3n],
      ["3", undefined],
    ]);
    const draft = session.draft();
    setTag(draft, { target: { schema: main }, key: "k", value: "v" });
    removeTag(draft, { target: { schema: main }, key: "k" });
    expect(draft.entityChanges()).toEqual([]);
  });

  it("need a live object, a key, and to be there when they are removed", () => {
    const { session, table } = start();
    const draft = session.draft();
    const target = { table: 99n as TableId };
    expect(codeOf(() => setTag(draft, { target, key: "k", value: "v" }))).toBe("not_found");
    expect(codeOf(() => removeTag(draft, { target, key: "k" }))).toBe("not_found");
    expect(codeOf(() => removeTag(draft, { target: { table }, key: "k" }))).toBe("not_found");
    expect(codeOf(() => setTag(draft, { target: { table }, key: "", value: "v" }))).toBe("invalid_argument");
    expect(codeOf(() => setTag(draft, { target: {} as { table: TableId }, key: "k", value: "v" }))).toBe(
      "invalid_argument",
    );
    expect(draft.isEmpty).toBe(true);
  });
});
