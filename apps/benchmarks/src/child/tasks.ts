import { bulkCommit } from "./bulk-commit.js";
import { resultMark } from "./child-process.js";
import { openStore } from "./open-store.js";
import { smallCommits } from "./small-commits.js";

const tasks = {
  "bulk-commit": bulkCommit,
  "open-store": openStore,
  "small-commits": smallCommits,
} as const;

export type ChildTask = keyof typeof tasks;
/** Input and result cross the process boundary as JSON. */
export type ChildInput<T extends ChildTask> = Parameters<(typeof tasks)[T]>[0];
export type ChildResult<T extends ChildTask> = Awaited<ReturnType<(typeof tasks)[T]>>;

/** The other side of `ChildProcess`: runs the task that the arguments name and tells its result. */
export async function runChildTask([task = "", input = "{}"]: readonly string[]): Promise<void> {
  if (!Object.hasOwn(tasks, task)) throw new Error(`there is no task "${task}"`);
  process.stdin
    .resume()
    .once("end", () => process.exit(1))
    .unref();
  const run = tasks[task as ChildTask] as (input: unknown) => Promise<unknown>;
  const result = await run(JSON.parse(input));
  process.stdout.write(`${resultMark}${JSON.stringify(result)}\n`);
}
