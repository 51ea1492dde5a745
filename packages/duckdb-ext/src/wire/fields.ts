import type { ByteReader } from "./byte-reader.js";
import type { ByteWriter } from "./byte-writer.js";
import { ProtocolError } from "./protocol-error.js";

/** How one field of a message is written and read. */
export interface Field<T> {
  write(to: ByteWriter, value: T): void;
  read(from: ByteReader): T;
}

export type ValueOf<F> = F extends Field<infer T> ? T : never;

export const u16: Field<number> = { write: (to, value) => to.u16(value), read: (from) => from.u16() };
export const u32: Field<number> = { write: (to, value) => to.u32(value), read: (from) => from.u32() };
export const u64: Field<bigint> = { write: (to, value) => to.u64(value), read: (from) => from.u64() };
export const bool: Field<boolean> = { write: (to, value) => to.bool(value), read: (from) => from.bool() };
export const text: Field<string> = { write: (to, value) => to.text(value), read: (from) => from.text() };

/** A view of the message where it is read, not a copy. */
export const bytes: Field<Uint8Array> = {
  write(to, value) {
    to.u32(value.length);
    to.put(value);
  },
  read: (from) => from.take(from.u32()),
};

/** A `list<u32>` in one go. */
export const u32s: Field<Uint32Array> = {
  write(to, value) {
    to.u32(value.length);
    to.put(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  },
  read(from) {
    const packed = from.take(from.u32() * Uint32Array.BYTES_PER_ELEMENT);
    // Copied: in the message they may lie at any byte.
    return new Uint32Array(packed.slice().buffer);
  },
};

export function list<T>(item: Field<T>): Field<readonly T[]> {
  return {
    write(to, values) {
      to.u32(values.length);
      for (const value of values) item.write(to, value);
    },
    read(from) {
      const values: T[] = [];
      // Nothing is allocated by the count alone: each item has bytes of its own.
      for (let left = from.u32(); left > 0; left--) values.push(item.read(from));
      return values;
    },
  };
}

export function option<T>(item: Field<T>): Field<T | undefined> {
  return {
    write(to, value) {
      to.bool(value !== undefined);
      if (value !== undefined) item.write(to, value);
    },
    read: (from) => (from.bool() ? item.read(from) : undefined),
  };
}

type Fields = Readonly<Record<string, Field<unknown>>>;
export type RecordOf<F> = { readonly [Name in keyof F]: ValueOf<F[Name]> };

/** Fields in the order in which they are named. */
export function record<F extends Fields>(fields: F): Field<RecordOf<F>> {
  const entries = Object.entries(fields);
  return {
    write(to, value) {
      for (const [name, field] of entries) field.write(to, value[name]);
    },
    read: (from) => Object.fromEntries(entries.map(([name, field]) => [name, field.read(from)])) as RecordOf<F>,
  };
}

/** Text to text; a name that comes twice is refused. */
export const textMap: Field<ReadonlyMap<string, string>> = {
  write(to, value) {
    to.u32(value.size);
    for (const [name, item] of value) {
      to.text(name);
      to.text(item);
    }
  },
  read(from) {
    const values = new Map<string, string>();
    for (let left = from.u32(); left > 0; left--) {
      const name = from.text();
      if (values.has(name)) throw new ProtocolError("a name of a map comes twice");
      values.set(name, from.text());
    }
    return values;
  },
};

/** A byte that stands for one of some words. */
export function oneOf<Word extends string>(numbers: Readonly<Record<Word, number>>, what: string): Field<Word> {
  const words = new Map(Object.entries(numbers).map(([word, number]) => [number as number, word as Word]));
  return {
    write: (to, word) => to.u8(numbers[word]),
    read(from) {
      const number = from.u8();
      const word = words.get(number);
      if (word === undefined) throw new ProtocolError(`there is no ${what} ${number}`);
      return word;
    },
  };
}

/** A byte whose bits from 0 on have names. Other bits are refused. */
export function flags<Name extends string>(names: readonly Name[]): Field<Readonly<Record<Name, boolean>>> {
  return {
    write: (to, value) => to.u8(names.reduce((bits, name, at) => bits | (value[name] ? 1 << at : 0), 0)),
    read(from) {
      const bits = from.u8();
      if (bits >> names.length !== 0) throw new ProtocolError(`the flags ${bits} have bits without a meaning`);
      return Object.fromEntries(names.map((name, at) => [name, ((bits >> at) & 1) === 1])) as Record<Name, boolean>;
    },
  };
}

/** A number that has to be this one. */
export function constant(field: Field<number>, expected: number, what: string): Field<number> {
  return {
    write: (to) => field.write(to, expected),
    read(from) {
      const found = field.read(from);
      if (found !== expected) throw new ProtocolError(`the ${what} is ${found}, not ${expected}`);
      return found;
    },
  };
}
