import { ConstraintError, InvalidArgumentError } from "@moraine/codec";
import type { Positions } from "./interface.js";

/** Positions ascending and without repeats. Refuses what is no position (`invalid_argument`) or beyond the file (`constraint`). */
export function sortedPositions(positions: Positions, recordCount: bigint, path: string, name: string): Float64Array {
  const sorted = new Float64Array(positions.length);
  let isSorted = true;
  for (let i = 0; i < positions.length; i++) {
    const position = Number(positions[i] ?? -1);
    if (!Number.isSafeInteger(position) || position < 0) {
      throw new InvalidArgumentError(`${name}[${i}] is not a row position`, {
        remedy: "Pass whole numbers from 0 to the number of rows in the file, exclusive.",
      });
    }
    sorted[i] = position;
    isSorted &&= i === 0 || position > (sorted[i - 1] ?? -1);
  }
  const distinct = isSorted ? sorted : withoutRepeats(sorted.sort());
  const last = distinct[distinct.length - 1];
  if (last !== undefined && BigInt(last) >= recordCount) {
    throw new ConstraintError(`position ${last} is beyond the ${recordCount} rows of file ${path}`, {
      remedy: "Pass positions below the file's record count.",
    });
  }
  return distinct;
}

function withoutRepeats(sorted: Float64Array): Float64Array {
  let count = 0;
  for (let i = 0; i < sorted.length; i++) {
    if (i === 0 || sorted[i] !== sorted[count - 1]) sorted[count++] = sorted[i] ?? 0;
  }
  return sorted.subarray(0, count);
}

/** Index of the first element that is not below `value`, in an ascending array. */
export function lowerBound(sorted: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether an ascending list holds a position. */
export function holdsPosition(positions: ArrayLike<number>, position: number): boolean {
  return positions[lowerBound(positions, position)] === position;
}
