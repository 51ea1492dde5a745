import { createHash } from "node:crypto";
import { NotFoundError } from "@moraine/codec";
import type { ReadableLake } from "./lake.js";

/**
 * Revisions as clients know them: the lake's own number, and above it a mark of the lake. A client outlives services, and may find
 * another lake at the store's place than the one that it was attached to; by the number alone it could not be told, and rows that were
 * made for the one would be committed to the other.
 */

/** Bits of a lake's own revision. */
const numberBits = 40n;
const markBits = 22n;
/** Set in revisions that are no single lake's. */
const manyLakes = 1n << (numberBits + markBits);

/** What tells a lake from others, as far as so many bits can: of the uuid of its oldest schema, which DuckLake makes with it. */
export async function markOf(catalog: Pick<ReadableLake, "snapshot">): Promise<bigint> {
  const schemas = (await catalog.snapshot()).schemas();
  const oldest = schemas.reduce<(typeof schemas)[number] | undefined>(
    (found, schema) => (found === undefined || schema.id < found.id ? schema : found),
    undefined,
  );
  const digest = createHash("sha256")
    .update(oldest?.uuid ?? "")
    .digest();
  return digest.readBigUInt64BE() >> (64n - markBits);
}

/** A lake's revision for its clients. */
export function wireRevision(mark: bigint, revision: bigint): bigint {
  return (mark << numberBits) | revision;
}

/** A revision for a copy that holds more than the lake that it is to follow from now on. */
export function amongOthers(revision: bigint): bigint {
  return manyLakes | revision;
}

export function isOfManyLakes(revision: bigint): boolean {
  return (revision & manyLakes) !== 0n;
}

/** The lake's own number in a client's revision of one lake; one of many lakes is above all of those. */
export function numberOf(revision: bigint): bigint {
  return isOfManyLakes(revision) ? revision : BigInt.asUintN(Number(numberBits), revision);
}

/** Whether a client's revision is one of this lake, and of no other. */
export function isOfLake(mark: bigint, revision: bigint): boolean {
  return !isOfManyLakes(revision) && markIn(revision) === mark;
}

/** Fails with `not_found` for a revision that is of none of a store's lakes. */
export function requireOwn(lakes: readonly { readonly mark: bigint }[], revision: bigint | undefined): void {
  if (revision === undefined || lakes.some(({ mark }) => mark === markIn(revision))) return;
  throw new NotFoundError("the lake that was attached: another one is at the store's place by now", {
    remedy: "Detach the lake, and attach it where it is now.",
  });
}

function markIn(revision: bigint): bigint {
  return BigInt.asUintN(Number(markBits), revision >> numberBits);
}
