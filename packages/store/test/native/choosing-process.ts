// Chooses its loops as the environment says, and prints what came of it.
import { BatchBuilder, getOne, loopsInUse, openStore } from "../../src/index.js";

const warnings: unknown[] = [];
process.on("warning", (warning) => {
  warnings.push({ message: warning.message, code: (warning as { code?: string }).code });
});

async function use(url: string): Promise<unknown> {
  const store = await openStore(url);
  const batch = new BatchBuilder();
  batch.put(Uint8Array.of(1), Uint8Array.of(2));
  await store.write(batch.finish());
  const value = await getOne(store, Uint8Array.of(1));
  await store.close();
  return value && [...value];
}

try {
  const values = [await use("memory://one"), await use("memory://two")];
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  process.stdout.write(JSON.stringify({ inUse: loopsInUse(), values, warnings }));
} catch (error) {
  if (!(error instanceof Error)) throw error;
  process.stdout.write(JSON.stringify({ code: (error as { code?: string }).code, message: error.message }));
}
