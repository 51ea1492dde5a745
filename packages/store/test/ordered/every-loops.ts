import { describe } from "vitest";
import type { ReadableStore, ReaderOptions, StoreOptions, WritableStore } from "../../src/index.js";
import type { StoreLoops } from "../../src/loops.js";
import { findAddon } from "../../src/native/find-addon.js";
import { NativeLoops } from "../../src/native/native-loops.js";
import { openStoreReaderWith, openStoreWith } from "../../src/open-store.js";
import { plainLoops } from "../../src/plain-loops.js";

/** `openStore` and `openStoreReader` over one kind of loops. */
export interface Openers {
  readonly openStore: (url: string, options?: StoreOptions) => Promise<WritableStore>;
  readonly openStoreReader: (url: string, options?: ReaderOptions) => Promise<ReadableStore>;
}

const found = findAddon(process.env["MORAINE_NATIVE_ADDON"]);

/** The native loops; fails where there is no addon. */
export function nativeLoops(): NativeLoops {
  if (found.addon === undefined) throw new Error(`no native loops: ${found.reason}`);
  return new NativeLoops(found.addon);
}

/** Whether tests of native code can run. Prints one line when they cannot, so that a skipped test never goes unseen. */
export function nativeLoopsAvailable(tests: string): boolean {
  if (found.addon !== undefined) return true;
  process.stderr.write(`skipped: ${tests} (no native loops: ${found.reason})\n`);
  return false;
}

/** Declares tests once for each kind of loops. */
export function describeEveryLoops(name: string, declare: (openers: Openers, loops: StoreLoops["name"]) => void): void {
  describe(`${name}, plain loops`, () => {
    declare(
      openersOf(() => plainLoops),
      "plain",
    );
  });
  const available = nativeLoopsAvailable(name);
  describe.skipIf(!available)(`${name}, native loops`, () => {
    declare(openersOf(nativeLoops), "native");
  });
}

function openersOf(loops: () => StoreLoops): Openers {
  return {
    openStore: (url, options = {}) => openStoreWith(loops(), url, options),
    openStoreReader: (url, options = {}) => openStoreReaderWith(loops(), url, options),
  };
}
