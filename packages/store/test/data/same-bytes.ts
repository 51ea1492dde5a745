/** Whether the parts are these bytes. Comparing long arrays element by element, as `toEqual` does, takes seconds. */
export function sameBytes(parts: readonly Uint8Array[] | undefined, expected: readonly Uint8Array[]): boolean {
  return (
    parts?.length === expected.length &&
    parts.every((part, index) => Buffer.compare(part, expected[index] ?? Buffer.of()) === 0)
  );
}
