import { PersistentMap } from "./persistent-map.js";

/** The scope under which kinds of one id keep their entities. */
const onlyScope = 0n;

/**
 * The live entities of one kind, immutable. Kinds with two ids (table, then object) are kept as a tree of tables that
 * each hold a tree of objects: the objects of one table are listed without touching those of any other.
 */
export class EntityMap<V> {
  readonly #scoped: boolean;
  readonly #scopes: PersistentMap<bigint, PersistentMap<bigint, V>>;
  readonly size: number;

  private constructor(scoped: boolean, scopes: PersistentMap<bigint, PersistentMap<bigint, V>>, size: number) {
    this.#scoped = scoped;
    this.#scopes = scopes;
    this.size = size;
  }

  static empty<V>(idCount: 1 | 2): EntityMap<V> {
    return new EntityMap<V>(idCount === 2, PersistentMap.empty(), 0);
  }

  /** Builds a map from entries in ascending key order; linear time. */
  static fromSorted<V>(
    idCount: 1 | 2,
    entries: readonly (readonly [ids: readonly bigint[], value: V])[],
  ): EntityMap<V> {
    const map = EntityMap.empty<V>(idCount);
    const scopeIds: bigint[] = [];
    const scopes: PersistentMap<bigint, V>[] = [];
    let start = 0;
    while (start < entries.length) {
      const scope = map.#scopeOf((entries[start] as readonly [readonly bigint[], V])[0]);
      const keys: bigint[] = [];
      const values: V[] = [];
      let end = start;
      for (; end < entries.length; end++) {
        const [ids, value] = entries[end] as readonly [readonly bigint[], V];
        if (map.#scopeOf(ids) !== scope) break;
        keys.push(map.#keyOf(ids));
        values.push(value);
      }
      scopeIds.push(scope);
      scopes.push(PersistentMap.fromSorted(keys, values));
      start = end;
    }
    return new EntityMap(idCount === 2, PersistentMap.fromSorted(scopeIds, scopes), entries.length);
  }

  get(ids: readonly bigint[]): V | undefined {
    return this.#scopes.get(this.#scopeOf(ids))?.get(this.#keyOf(ids));
  }

  set(ids: readonly bigint[], value: V): EntityMap<V> {
    const scope = this.#scopeOf(ids);
    const objects = this.#scopes.get(scope) ?? PersistentMap.empty<bigint, V>();
    const next = objects.set(this.#keyOf(ids), value);
    return new EntityMap(this.#scoped, this.#scopes.set(scope, next), this.size + next.size - objects.size);
  }

  delete(ids: readonly bigint[]): EntityMap<V> {
    const scope = this.#scopeOf(ids);
    const objects = this.#scopes.get(scope);
    const next = objects?.delete(this.#keyOf(ids));
    if (objects === undefined || next === undefined || next === objects) return this;
    const scopes = next.size === 0 ? this.#scopes.delete(scope) : this.#scopes.set(scope, next);
    return new EntityMap(this.#scoped, scopes, this.size - 1);
  }

  /** Values in key order: all of them, or those under one leading id. */
  list(leading?: bigint): V[] {
    if (!this.#scoped) return this.#scopes.get(onlyScope)?.toArray() ?? [];
    if (leading !== undefined) return this.#scopes.get(leading)?.toArray() ?? [];
    const out: V[] = [];
    for (const objects of this.#scopes.values()) for (const value of objects.values()) out.push(value);
    return out;
  }

  count(leading?: bigint): number {
    if (leading === undefined || !this.#scoped) return this.size;
    return this.#scopes.get(leading)?.size ?? 0;
  }

  *entries(leading?: bigint): IterableIterator<[readonly bigint[], V]> {
    if (!this.#scoped) {
      for (const [key, value] of this.#scopes.get(onlyScope)?.entries() ?? []) yield [[key], value];
      return;
    }
    for (const [scope, objects] of this.#scopes.entries(leading)) {
      if (leading !== undefined && scope !== leading) return;
      for (const [key, value] of objects.entries()) yield [[scope, key], value];
    }
  }

  #scopeOf(ids: readonly bigint[]): bigint {
    return this.#scoped ? (ids[0] as bigint) : onlyScope;
  }

  #keyOf(ids: readonly bigint[]): bigint {
    return (this.#scoped ? ids[1] : ids[0]) as bigint;
  }
}
