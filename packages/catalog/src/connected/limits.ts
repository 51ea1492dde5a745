/** How long a cut that nobody reads stays pinned in the other process, in milliseconds: the next read finds it there. */
export const idleCutMs = 1_000;

/** Snapshots, and records beside their own, of which a process is told when it asks for the head. It reads what is more by itself. */
export const mostNewsSnapshots = 64n;
export const mostNewsKeys = 1_024;
