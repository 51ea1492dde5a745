import type { CommitDraft, InsertOp } from "../operations.js";
import type { InlineChunks } from "../inline/insert.js";
import { Transaction } from "../transaction.js";
import { type RecordedVerb, type VerbName, verbNames } from "./recorded-commit.js";

/** A transaction that keeps what its verbs were given and what they gave. A verb that was refused leaves nothing. */
export class RecordedTransaction extends Transaction {
  readonly verbs: RecordedVerb[] = [];
  readonly uuids: string[];
  readonly #draft: CommitDraft;

  /** `uuids` is where the draft's source of uuids puts each one that it makes. */
  constructor(draft: CommitDraft, uuids: string[]) {
    super(draft);
    this.#draft = draft;
    this.uuids = uuids;
  }

  /** Runs a verb as it is and keeps it. */
  record(verb: VerbName, run: () => unknown, args: unknown): unknown {
    const before = this.#draft.inlineOps.length;
    const uuidsBefore = this.uuids.length;
    let result: unknown;
    try {
      result = run();
    } catch (error) {
      this.uuids.length = uuidsBefore;
      throw error;
    }
    if (verb !== "inlineInsert") {
      this.verbs.push({ verb, args, result });
      return result;
    }
    // Rows have been checked and encoded by now: the other side is sent their bytes, whatever they were given as.
    const ops = this.#draft.inlineOps.slice(before) as readonly InsertOp[];
    const [first] = ops;
    if (first !== undefined) {
      const chunks: InlineChunks = {
        table: first.tableId,
        chunks: ops.map(({ schemaVersion, schema, body, rowCount }) => ({
          schemaVersion,
          arrowSchema: schema.bytes,
          arrowBody: body,
          rowCount,
        })),
      };
      this.verbs.push({ verb: "insertChunks", args: chunks, result });
    }
    return result;
  }
}

for (const verb of verbNames) {
  const plain = Transaction.prototype[verb] as (this: Transaction, args: unknown) => unknown;
  Object.defineProperty(RecordedTransaction.prototype, verb, {
    configurable: true,
    writable: true,
    value(this: RecordedTransaction, args: unknown): unknown {
      return this.record(verb, () => plain.call(this, args), args);
    },
  });
}
