import type { FollowStep } from "@moraine/catalog";
import { statementsOf } from "./sql-of-steps.js";
import { encodeFrame } from "./wire/messages.js";

/** The schema of the metadata catalog in which DuckLake has its tables. */
const metadataSchema = "main";

type RowsStep = Extract<FollowStep, { readonly kind: "rows" }>;

/** What takes a copy of the tables from one revision to the next: `Statements` and `Rows`, in the order in which they apply. */
export function framesOfSteps(steps: readonly FollowStep[]): Uint8Array[] {
  const frames: Uint8Array[] = [];
  let statements: Exclude<FollowStep, RowsStep>[] = [];
  const endStatements = (): void => {
    if (statements.length === 0) return;
    const sql = [...statementsOf(metadataSchema, statements)].map((statement) => `${statement};`).join("\n");
    frames.push(encodeFrame({ type: "statements", sql }));
    statements = [];
  };
  for (const step of steps) {
    if (step.kind === "rows") {
      endStatements();
      frames.push(rowsFrame(step));
    } else {
      statements.push(step);
    }
  }
  endStatements();
  return frames;
}

/** The frames of a full load, as its steps come: one statement each. */
export async function* framesOfLoad(steps: AsyncIterable<FollowStep>): AsyncIterableIterator<Uint8Array> {
  for await (const step of steps) {
    if (step.kind === "rows") yield rowsFrame(step);
    else for (const sql of statementsOf(metadataSchema, [step])) yield encodeFrame({ type: "statements", sql });
  }
}

function rowsFrame({ table, batch }: RowsStep): Uint8Array {
  return encodeFrame({ type: "rows", schema: metadataSchema, table, batch });
}
