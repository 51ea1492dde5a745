import { setImmediate } from "node:timers/promises";

/** How often something is measured: `warmUps` runs whose result is thrown away, then `runs` of which the median counts. */
export interface Repeats {
  readonly warmUps: number;
  readonly runs: number;
}

/** Median over the runs of each run's own median and 99th percentile. */
export interface Latency {
  readonly p50Seconds: number;
  readonly p99Seconds: number;
}

type MaybePromise<T> = T | Promise<T>;

/** The median of what `sample` gives. Memory that earlier runs left is collected before each run, where Node allows it. */
export async function medianOf(
  { warmUps, runs }: Repeats,
  sample: (run: number) => MaybePromise<number>,
): Promise<number> {
  const values: number[] = [];
  for (let run = 0; run < warmUps + runs; run++) {
    await settle();
    const value = await sample(run);
    if (run >= warmUps) values.push(value);
  }
  return percentile(values, 0.5);
}

/** Seconds that `work` takes. */
export async function seconds(work: () => MaybePromise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return (performance.now() - startMs) / 1000;
}

/** Seconds that synchronous work takes, without the turn of the event loop that awaiting costs. */
export function secondsSync(work: () => unknown): number {
  const startMs = performance.now();
  work();
  return (performance.now() - startMs) / 1000;
}

/** Times each of `samples` calls in each run. Calls are numbered through, warm-up included, so that each can differ. */
export async function latencyOf(
  repeats: Repeats,
  samples: number,
  call: (number: number) => MaybePromise<unknown>,
): Promise<Latency> {
  const p99s: number[] = [];
  let number = 0;
  const p50Seconds = await medianOf(repeats, async (run) => {
    const times = new Float64Array(samples);
    for (let i = 0; i < samples; i++) {
      const startMs = performance.now();
      // A promise is awaited only where there is one: a microtask would weigh on calls of a few microseconds.
      const pending = call(number++);
      if (pending instanceof Promise) await pending;
      times[i] = (performance.now() - startMs) / 1000;
    }
    if (run >= repeats.warmUps) p99s.push(percentile(times, 0.99));
    return percentile(times, 0.5);
  });
  return { p50Seconds, p99Seconds: percentile(p99s, 0.5) };
}

/** The smallest value that at least this share of the values does not exceed. */
export function percentile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Lets what is pending run, and collects the garbage of what came before, which would be paid for in what is measured next. */
export async function settle(): Promise<void> {
  await setImmediate();
  globalThis.gc?.();
}
