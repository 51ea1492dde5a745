/** Runs something once and takes its time. */
export async function timedRun<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly elapsedMs: number }> {
  const startedMs = performance.now();
  const value = await work();
  return { value, elapsedMs: performance.now() - startedMs };
}
