import { maxTreeNodeEntries } from "./limits.js";

interface Leaf<K, V> {
  readonly leaf: true;
  readonly size: number;
  readonly keys: readonly K[];
  readonly values: readonly V[];
}

interface Branch<K, V> {
  readonly leaf: false;
  readonly size: number;
  /** The smallest key that each child held when it was made: a lower bound, which is all that routing needs. */
  readonly keys: readonly K[];
  readonly children: readonly Node<K, V>[];
}

type Node<K, V> = Leaf<K, V> | Branch<K, V>;

/**
 * An immutable sorted map in key order. `set` and `delete` return a new map that shares every untouched node with the
 * old one, so a map of a million entries costs a handful of small array copies a change, and a map that somebody else
 * holds never moves. Keys are all `bigint` or all `string`, in their natural order.
 */
export class PersistentMap<K extends bigint | string, V> {
  readonly #root: Node<K, V> | undefined;

  private constructor(root: Node<K, V> | undefined) {
    this.#root = root;
  }

  static empty<K extends bigint | string, V>(): PersistentMap<K, V> {
    return new PersistentMap<K, V>(undefined);
  }

  /** Builds a map bottom-up in linear time. `keys` must be strictly ascending. */
  static fromSorted<K extends bigint | string, V>(keys: readonly K[], values: readonly V[]): PersistentMap<K, V> {
    let level: Node<K, V>[] = [];
    for (let start = 0; start < keys.length; start += maxTreeNodeEntries) {
      const end = start + maxTreeNodeEntries;
      level.push(leafOf(keys.slice(start, end), values.slice(start, end)));
    }
    while (level.length > 1) {
      const parents: Node<K, V>[] = [];
      for (let start = 0; start < level.length; start += maxTreeNodeEntries) {
        parents.push(branchOf(level.slice(start, start + maxTreeNodeEntries)));
      }
      level = parents;
    }
    return new PersistentMap(level[0]);
  }

  get size(): number {
    return this.#root?.size ?? 0;
  }

  get(key: K): V | undefined {
    let node = this.#root;
    while (node !== undefined) {
      if (node.leaf) {
        const at = lowerBound(node.keys, key);
        return node.keys[at] === key ? node.values[at] : undefined;
      }
      node = node.children[childIndex(node.keys, key)];
    }
    return undefined;
  }

  set(key: K, value: V): PersistentMap<K, V> {
    if (this.#root === undefined) return new PersistentMap<K, V>(leafOf([key], [value]));
    const [left, right] = insert(this.#root, key, value);
    return new PersistentMap(right === undefined ? left : branchOf([left, right]));
  }

  /** The map without `key`; the same map if it never held it. */
  delete(key: K): PersistentMap<K, V> {
    if (this.#root === undefined) return this;
    let root = remove(this.#root, key);
    if (root === this.#root) return this;
    while (root !== undefined && !root.leaf && root.children.length === 1) root = root.children[0];
    return new PersistentMap(root);
  }

  /** Entries in key order, from the first key that is not below `from`. */
  *entries(from?: K): IterableIterator<[K, V]> {
    if (this.#root !== undefined) yield* walk(this.#root, from);
  }

  *values(from?: K): IterableIterator<V> {
    if (this.#root === undefined) return;
    for (const [, value] of walk(this.#root, from)) yield value;
  }

  /** All values in key order, as a new array. Much quicker than draining `values()`. */
  toArray(): V[] {
    const out: V[] = [];
    if (this.#root !== undefined) collect(this.#root, out);
    return out;
  }
}

function leafOf<K, V>(keys: readonly K[], values: readonly V[]): Leaf<K, V> {
  return { leaf: true, size: keys.length, keys, values };
}

function branchOf<K, V>(children: readonly Node<K, V>[]): Branch<K, V> {
  let size = 0;
  const keys: K[] = [];
  for (const child of children) {
    size += child.size;
    keys.push(child.keys[0] as K);
  }
  return { leaf: false, size, keys, children };
}

/** The first position whose key is not below `key`. */
function lowerBound<K extends bigint | string>(keys: readonly K[], key: K): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as K) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The child that holds `key` if any does: the last one that does not begin above it, else the first. */
function childIndex<K extends bigint | string>(keys: readonly K[], key: K): number {
  const at = lowerBound(keys, key);
  if (keys[at] === key) return at;
  return at === 0 ? 0 : at - 1;
}

function splice<T>(items: readonly T[], at: number, deleteCount: number, ...added: T[]): T[] {
  const copy = items.slice();
  copy.splice(at, deleteCount, ...added);
  return copy;
}

function insert<K extends bigint | string, V>(node: Node<K, V>, key: K, value: V): [Node<K, V>, Node<K, V>?] {
  if (node.leaf) {
    const at = lowerBound(node.keys, key);
    if (node.keys[at] === key) return [leafOf(node.keys, splice(node.values, at, 1, value))];
    const keys = splice(node.keys, at, 0, key);
    const values = splice(node.values, at, 0, value);
    if (keys.length <= maxTreeNodeEntries) return [leafOf(keys, values)];
    const middle = splitPoint(at, keys.length);
    return [leafOf(keys.slice(0, middle), values.slice(0, middle)), leafOf(keys.slice(middle), values.slice(middle))];
  }
  const at = childIndex(node.keys, key);
  const [left, right] = insert(node.children[at] as Node<K, V>, key, value);
  const children = right === undefined ? splice(node.children, at, 1, left) : splice(node.children, at, 1, left, right);
  if (children.length <= maxTreeNodeEntries) return [branchOf(children)];
  const middle = splitPoint(at, children.length - 1);
  return [branchOf(children.slice(0, middle)), branchOf(children.slice(middle))];
}

/** Ids are handed out in ascending order: a node that overflows at its end keeps all but the newest, so nodes end up full. */
function splitPoint(insertedAt: number, length: number): number {
  return insertedAt >= length - 1 ? length - 1 : length >>> 1;
}

function remove<K extends bigint | string, V>(node: Node<K, V>, key: K): Node<K, V> | undefined {
  if (node.leaf) {
    const at = lowerBound(node.keys, key);
    if (node.keys[at] !== key) return node;
    return node.keys.length === 1 ? undefined : leafOf(splice(node.keys, at, 1), splice(node.values, at, 1));
  }
  const at = childIndex(node.keys, key);
  const child = node.children[at] as Node<K, V>;
  const smaller = remove(child, key);
  if (smaller === child) return node;
  if (smaller === undefined) return node.children.length === 1 ? undefined : branchOf(splice(node.children, at, 1));
  return branchOf(mergeWithNeighbour(node.children, at, smaller));
}

/** Joins a thin node with the one beside it when both fit in one, so that many deletes cannot leave a tree of crumbs. */
function mergeWithNeighbour<K, V>(children: readonly Node<K, V>[], at: number, child: Node<K, V>): Node<K, V>[] {
  if (child.keys.length <= maxTreeNodeEntries / 4) {
    for (const leftAt of [at - 1, at]) {
      const left = leftAt === at ? child : children[leftAt];
      const right = leftAt === at ? children[at + 1] : child;
      if (left === undefined || right === undefined || left.keys.length + right.keys.length > maxTreeNodeEntries)
        continue;
      return splice(children, leftAt, 2, join(left, right));
    }
  }
  return splice(children, at, 1, child);
}

function join<K, V>(left: Node<K, V>, right: Node<K, V>): Node<K, V> {
  if (left.leaf && right.leaf) return leafOf([...left.keys, ...right.keys], [...left.values, ...right.values]);
  if (!left.leaf && !right.leaf) return branchOf([...left.children, ...right.children]);
  throw new Error("tree nodes of different heights stood side by side");
}

function* walk<K extends bigint | string, V>(node: Node<K, V>, from: K | undefined): IterableIterator<[K, V]> {
  if (node.leaf) {
    const start = from === undefined ? 0 : lowerBound(node.keys, from);
    for (let at = start; at < node.keys.length; at++) yield [node.keys[at] as K, node.values[at] as V];
    return;
  }
  const start = from === undefined ? 0 : childIndex(node.keys, from);
  for (let at = start; at < node.children.length; at++)
    yield* walk(node.children[at] as Node<K, V>, at === start ? from : undefined);
}

function collect<K, V>(node: Node<K, V>, out: V[]): void {
  if (node.leaf) for (const value of node.values) out.push(value);
  else for (const child of node.children) collect(child, out);
}
