/** How long a cut that nobody reads stays pinned in the other process, in milliseconds: the next read finds it there. */
export const idleCutMs = 1_000;
