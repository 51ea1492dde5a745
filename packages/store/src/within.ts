/** Lets a call run by itself. For calls whose failure is reported elsewhere or cannot matter any more. */
export function detach(call: Promise<unknown>): void {
  call.catch(() => undefined);
}

/** The next turn of the event loop: timers and I/O run before it. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Settles as the call does, or rejects when it takes longer. The call itself goes on; its outcome is then dropped. */
export async function within<T>(call: Promise<T>, limitMs: number, onTimeout: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onTimeout()), limitMs);
  });
  try {
    return await Promise.race([call, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
