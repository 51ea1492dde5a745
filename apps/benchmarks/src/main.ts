import { childFlag } from "./child/child-process.js";
import { runChildTask } from "./child/tasks.js";
import { runBenchmarks } from "./run-benchmarks.js";

// Some figures need a process of their own: a cold start, a peak of memory, a killed writer. It is this same program.
const [first, ...rest] = process.argv.slice(2);
if (first === childFlag) await runChildTask(rest);
else process.exitCode = await runBenchmarks(process.argv.slice(2));
