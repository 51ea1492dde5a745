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
