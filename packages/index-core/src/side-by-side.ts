/**
 * Runs steps 0 to `count` (exclusive) in their order, at most `most` of them at once: when one ends the next begins. None
 * begins once one has failed.
 *
 * Settles when every step that was begun has, so that the caller may release what they read from. Fails with the error of
 * one that failed.
 */
export async function sideBySide(count: number, most: number, step: (number: number) => Promise<void>): Promise<void> {
  if (count === 1) return step(0);
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      try {
        await step(next++);
      } catch (error) {
        next = count;
        throw error;
      }
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(count, most) }, lane));
  for (const outcome of lanes) if (outcome.status === "rejected") throw outcome.reason;
}

/**
 * Runs a step for each part of so many keys: `partKeys` of them in a part, and at most `windowKeys` under way at once. Settles
 * and fails as `sideBySide`.
 */
export function partsSideBySide(
  keys: number,
  { partKeys, windowKeys }: { readonly partKeys: number; readonly windowKeys: number },
  step: (first: number, last: number) => Promise<void>,
): Promise<void> {
  return sideBySide(Math.ceil(keys / partKeys), windowKeys / partKeys, (part) => {
    const first = part * partKeys;
    return step(first, Math.min(keys, first + partKeys));
  });
}
