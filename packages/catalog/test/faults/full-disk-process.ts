// A process that commits to a catalog until its disk is full. Argument: location of the store. `acknowledged i` is printed once
// the catalog has answered; then how the first failing commit failed, and how the handle answers afterwards.
import { writeSync } from "node:fs";
import { MoraineError, type SchemaId } from "@moraine/codec";
import { openStore } from "@moraine/store";
import { Catalog } from "../../src/index.js";

const say = (line: string): void => {
  writeSync(1, `${line}\n`);
};
const codeOf = (error: unknown): string => (error instanceof MoraineError ? error.code : "none");

const catalog = await Catalog.open({ store: await openStore(process.argv[2] ?? "") });
const { value: table } = await catalog.commit((tx) =>
  tx.createTable({
    schema: 0n as SchemaId,
    name: "t",
    columns: [
      { name: "k", columnType: "BIGINT" },
      { name: "s", columnType: "VARCHAR" },
    ],
  }),
);
await catalog.commit((tx) => tx.createIndex({ table, name: "t_k", columns: ["k"], unique: true }));
const text = "x".repeat(100_000);
let i = 0;
const commit = async (): Promise<void> => {
  const k = i++;
  await catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ k, s: `${k}${text}` }] }));
  say(`acknowledged ${k}`);
};
const outcomes = await Promise.allSettled(
  Array.from({ length: 3 }, async () => {
    for (;;) await commit();
  }),
);
for (const outcome of outcomes) if (outcome.status === "rejected") say(`failed ${codeOf(outcome.reason)}`);
await commit().then(
  () => say("refused not at all"),
  (error: unknown) => say(`refused ${codeOf(error)}`),
);
await catalog.close().catch(() => undefined);
say("closed");
// The engine goes on trying to reach a place that fails, and keeps the process alive with that.
process.exit();
