import { expect, test } from "vitest";
import { sanitizerFindings } from "./sanitize.mjs";

test("what sanitizers print is found, and what others print is not", () => {
  const found = [
    "==123==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602 at pc 0x7f",
    "AddressSanitizer:DEADLYSIGNAL",
    "packages/store/native/src/loops.cc:12:5: runtime error: signed integer overflow: 1 + 2147483647",
    "==5==WARNING: MemorySanitizer: use-of-uninitialized-value",
  ];
  const others = [
    "panic: runtime error: invalid memory address or nil pointer dereference",
    "sanitize: skipped: no C++ compiler with AddressSanitizer",
    "ERROR: a test failed",
  ];
  expect(sanitizerFindings([...found, ...others].join("\n"))).toEqual(found);
});
