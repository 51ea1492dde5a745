import type { CatalogSnapshot } from "../model/view.js";
import { checkArray, checkObject, checkString } from "../verbs/arguments.js";
import type { Transaction } from "../transaction.js";

/** Methods of a transaction that stage something and that callers have. */
export type VerbName = Exclude<
  keyof Transaction,
  keyof CatalogSnapshot | "end" | "baseRevision" | "takeUuids" | "insertChunks"
>;

const names: Readonly<Record<VerbName, true>> = {
  addColumn: true,
  alterColumn: true,
  alterView: true,
  clearPartitioning: true,
  clearSorting: true,
  createIndex: true,
  createMacro: true,
  createSchema: true,
  createTable: true,
  createView: true,
  dropColumn: true,
  dropIndex: true,
  dropMacro: true,
  dropSchema: true,
  dropTable: true,
  dropView: true,
  expireDataFile: true,
  expireDeleteFile: true,
  flushInlinedData: true,
  inlineDelete: true,
  inlineInsert: true,
  recordDataPath: true,
  registerDataFile: true,
  registerDeleteFile: true,
  removeTag: true,
  renameColumn: true,
  renameTable: true,
  setOption: true,
  setPartitioning: true,
  setSorting: true,
  setTableSchema: true,
  setTag: true,
  unsetOption: true,
  updateColumnStats: true,
  updateTableStats: true,
};

export const verbNames = Object.keys(names) as readonly VerbName[];

/** One call of a verb: rows to inline as the chunks that were made of them, else its arguments as they were given. */
export interface RecordedVerb {
  readonly verb: VerbName | "insertChunks";
  readonly args: unknown;
  /** What it gave. Made again on the same state it must give the same. */
  readonly result: unknown;
}

/** What one closure did, in order. */
export interface RecordedMember {
  readonly verbs: readonly RecordedVerb[];
  /** Those of the schemas, tables and views that it made, in order. */
  readonly uuids: readonly string[];
}

/** Closures that ran in one process, to be made durable by another: one commit each, that land together. */
export interface RecordedCommit {
  /** The revision that they ran on. */
  readonly base: bigint;
  /** The snapshot of that revision. */
  readonly baseSnapshot: bigint;
  readonly members: readonly RecordedMember[];
  readonly author: string | undefined;
  readonly message: string | undefined;
  readonly extraInfo: string | undefined;
}

/** Checks the form of a member that came from elsewhere. What its verbs are given they check themselves. Errors: `invalid_argument`. */
export function checkMember(value: unknown): RecordedMember {
  const member = value as RecordedMember;
  checkObject(member, "member");
  for (const [at, verb] of checkArray(member.verbs, "verbs").entries()) checkObject(verb, `verbs[${at}]`);
  for (const uuid of checkArray(member.uuids, "uuids")) checkString(uuid, "uuid");
  return member;
}
