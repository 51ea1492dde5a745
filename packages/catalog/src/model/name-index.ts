import { PersistentMap } from "./persistent-map.js";

/** Ids under one name. A list, because rows that DuckLake writes are not checked for duplicate names. */
type Ids = readonly bigint[];

/**
 * Folded names to ids, scoped by one id (a schema, or 0 for names that are global), immutable. `find` gives ids in ascending
 * order, nearly always none or one.
 */
export class NameIndex {
  readonly #scopes: PersistentMap<bigint, PersistentMap<string, Ids>>;

  private constructor(scopes: PersistentMap<bigint, PersistentMap<string, Ids>>) {
    this.#scopes = scopes;
  }

  static readonly empty: NameIndex = new NameIndex(PersistentMap.empty());

  find(scope: bigint, name: string): Ids {
    return this.#scopes.get(scope)?.get(name) ?? [];
  }

  /** Every id in one scope, in name order. */
  idsIn(scope: bigint): bigint[] {
    return (this.#scopes.get(scope)?.toArray() ?? []).flat();
  }

  has(scope: bigint): boolean {
    return this.#scopes.get(scope) !== undefined;
  }

  add(scope: bigint, name: string, id: bigint): NameIndex {
    const names = this.#scopes.get(scope) ?? PersistentMap.empty<string, Ids>();
    const ids = [...(names.get(name) ?? []), id].sort((a, b) => (a < b ? -1 : 1));
    return new NameIndex(this.#scopes.set(scope, names.set(name, ids)));
  }

  remove(scope: bigint, name: string, id: bigint): NameIndex {
    const names = this.#scopes.get(scope);
    const ids = names?.get(name);
    if (names === undefined || ids === undefined) return this;
    const left = ids.filter((other) => other !== id);
    const next = left.length === 0 ? names.delete(name) : names.set(name, left);
    return new NameIndex(next.size === 0 ? this.#scopes.delete(scope) : this.#scopes.set(scope, next));
  }
}

/**
 * Names of schemas, tables, views, macros and columns as DuckDB compares them: without regard to the case of ASCII letters.
 * Where two of these differ in nothing else, SQL could not name both.
 */
export function foldSqlName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Index names are compared without regard to case (specification, "The index definition"). */
export function foldName(name: string): string {
  return name.toLowerCase();
}
