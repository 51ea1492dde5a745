import { type EntityKey, type EntityValue, type GcFileValue, type SnapshotValue, entityKinds } from "@moraine/codec";
import { CatalogState, type LoadedEntity } from "./state.js";

interface Version {
  readonly entity: LoadedEntity;
  /** The snapshot that ended the version; `undefined` while it is live. */
  readonly end: bigint | undefined;
}

/**
 * The state of the catalog at a past snapshot, from the decoded `current` and `history` records in any order: versioned
 * kinds as they were (`begin <= S < end`), the others as they are now (format.md 8.4).
 */
export function stateAt(
  entries: Iterable<LoadedEntity>,
  gcFiles: Iterable<GcFileValue>,
  snapshot: SnapshotValue,
  batchSeq: bigint,
): CatalogState {
  const unversioned: LoadedEntity[] = [];
  const visible = new Map<string, Version>();
  for (const entity of entries) {
    if (!entityKinds[entity.key.kind].versioned) {
      unversioned.push(entity);
      continue;
    }
    const { beginSnapshot, endSnapshot } = entity.value as { beginSnapshot: bigint; endSnapshot: bigint | undefined };
    if (beginSnapshot > snapshot.snapshotId) continue;
    if (endSnapshot !== undefined && endSnapshot <= snapshot.snapshotId) continue;
    const name = entityName(entity.key);
    const known = visible.get(name);
    if (known === undefined || endsBefore(endSnapshot, known.end)) visible.set(name, { entity, end: endSnapshot });
  }
  const versioned = [...visible.values()].map((version) => ({
    key: version.entity.key,
    value: { ...version.entity.value, endSnapshot: undefined } as EntityValue[keyof EntityValue],
  }));
  return CatalogState.load([...unversioned, ...versioned], gcFiles, snapshot, batchSeq);
}

/**
 * Versions of one index overlap when it was poisoned: the new version keeps the begin of the old. The one that ended
 * first was in force until then.
 */
function endsBefore(a: bigint | undefined, b: bigint | undefined): boolean {
  if (a === undefined) return false;
  return b === undefined || a < b;
}

function entityName(key: EntityKey): string {
  return `${key.kind}/${key.ids.join("/")}`;
}
