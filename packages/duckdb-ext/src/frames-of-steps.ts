import type { FollowStep } from "@moraine/catalog";
import { defaultMetadataSchema, isSameSchema } from "./metadata-schema.js";
import { quotedName, statementsOf } from "./sql-of-steps.js";
import { encodeFrame } from "./wire/messages.js";

type RowsStep = Extract<FollowStep, { readonly kind: "rows" }>;

/** What takes a copy of the tables in a schema from one revision to the next: `Statements` and `Rows`, in the order in which they apply. */
export function framesOfSteps(schema: string, steps: readonly FollowStep[]): Uint8Array[] {
  const frames: Uint8Array[] = [];
  let statements: Exclude<FollowStep, RowsStep>[] = [];
  const endStatements = (): void => {
    if (statements.length === 0) return;
    const sql = [...statementsOf(schema, statements)].map((statement) => `${statement};`).join("\n");
    frames.push(encodeFrame({ type: "statements", sql }));
    statements = [];
  };
  for (const step of steps) {
    if (step.kind === "rows") {
      endStatements();
      frames.push(rowsFrame(schema, step));
    } else {
      statements.push(step);
    }
  }
  endStatements();
  return frames;
}

/** The frames of a full load, as its steps come: one statement each. */
export async function* framesOfLoad(
  schema: string,
  steps: AsyncIterable<FollowStep>,
): AsyncIterableIterator<Uint8Array> {
  if (!isSameSchema(schema, defaultMetadataSchema))
    yield encodeFrame({ type: "statements", sql: `CREATE SCHEMA ${quotedName(schema)}` });
  for await (const step of steps) {
    if (step.kind === "rows") yield rowsFrame(schema, step);
    else for (const sql of statementsOf(schema, [step])) yield encodeFrame({ type: "statements", sql });
  }
}

function rowsFrame(schema: string, { table, batch }: RowsStep): Uint8Array {
  return encodeFrame({ type: "rows", schema, table, batch });
}
