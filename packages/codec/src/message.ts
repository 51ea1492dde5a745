/**
 * The shape of one record value: its fields in ascending field number. `encodeValue` and `decodeValue` walk this table;
 * there is no generated code.
 */
export interface MessageType<T> {
  readonly name: string;
  readonly fields: readonly MessageField[];
  /** A field by its number, or `undefined` for a number that this version does not know. */
  readonly byNumber: readonly (MessageField | undefined)[];
  /** Every field at its default: zero, empty, or `undefined` where it is optional. */
  readonly defaults: T;
}

/** How a field is written and read. `plain` kinds are absent at zero; `optional` ones keep zero apart from absent. */
export type FieldKind =
  | "u64"
  | "i64"
  | "bool"
  | "string"
  | "bytes"
  | "optional u64"
  | "optional bool"
  | "optional string"
  | "repeated u64"
  | "repeated bool"
  | "repeated bytes"
  | "repeated message"
  | "string map";

/** One field of a message. */
export interface MessageField {
  readonly name: string;
  /** Message and field name, for messages. */
  readonly path: string;
  readonly number: number;
  readonly kind: FieldKind;
  /** The element type of a `repeated message`. */
  readonly message: MessageType<object> | undefined;
}

/** A field before it has its name. `T` is the type that it has in TypeScript. */
export interface FieldSpec<T> {
  readonly number: number;
  readonly kind: FieldKind;
  readonly defaultValue: T;
  readonly message?: MessageType<object>;
}

/** The TypeScript type of a message declared by `message`. */
export type ValueOf<M> = M extends MessageType<infer T> ? T : never;

// Defaults are shared by all values that lack the field. Nothing writes into a record value.
const emptyBytes = new Uint8Array(0);
const emptyList: readonly never[] = Object.freeze([]);
const emptyMap: ReadonlyMap<string, string> = new Map();

export const u64 = (number: number): FieldSpec<bigint> => ({ number, kind: "u64", defaultValue: 0n });
export const i64 = (number: number): FieldSpec<bigint> => ({ number, kind: "i64", defaultValue: 0n });
export const bool = (number: number): FieldSpec<boolean> => ({ number, kind: "bool", defaultValue: false });
export const string = (number: number): FieldSpec<string> => ({ number, kind: "string", defaultValue: "" });
export const bytes = (number: number): FieldSpec<Uint8Array> => ({ number, kind: "bytes", defaultValue: emptyBytes });

export const optionalU64 = (number: number): FieldSpec<bigint | undefined> => ({
  number,
  kind: "optional u64",
  defaultValue: undefined,
});
export const optionalBool = (number: number): FieldSpec<boolean | undefined> => ({
  number,
  kind: "optional bool",
  defaultValue: undefined,
});
export const optionalString = (number: number): FieldSpec<string | undefined> => ({
  number,
  kind: "optional string",
  defaultValue: undefined,
});

export const repeatedU64 = (number: number): FieldSpec<readonly bigint[]> => ({
  number,
  kind: "repeated u64",
  defaultValue: emptyList,
});
export const repeatedBool = (number: number): FieldSpec<readonly boolean[]> => ({
  number,
  kind: "repeated bool",
  defaultValue: emptyList,
});
export const repeatedBytes = (number: number): FieldSpec<readonly Uint8Array[]> => ({
  number,
  kind: "repeated bytes",
  defaultValue: emptyList,
});
export const repeated = <T extends object>(number: number, element: MessageType<T>): FieldSpec<readonly T[]> => ({
  number,
  kind: "repeated message",
  defaultValue: emptyList,
  message: element,
});
export const stringMap = (number: number): FieldSpec<ReadonlyMap<string, string>> => ({
  number,
  kind: "string map",
  defaultValue: emptyMap,
});

/** Declares a message. Property order, field number order and byte order are the same. */
export function message<F extends Record<string, FieldSpec<unknown>>>(
  name: string,
  specs: F,
): MessageType<{ readonly [K in keyof F]: F[K]["defaultValue"] }> {
  const fields: MessageField[] = [];
  const byNumber: (MessageField | undefined)[] = [undefined];
  const defaults: Record<string, unknown> = {};
  for (const [fieldName, spec] of Object.entries(specs)) {
    while (byNumber.length < spec.number) byNumber.push(undefined);
    if (byNumber.length !== spec.number) throw new Error(`${name}.${fieldName} is out of order`);
    const field: MessageField = {
      name: fieldName,
      // DuckLake repeats a commit whose error holds that word, so the message gives the field's number instead.
      path: fieldName === "unique" ? `${name} field ${spec.number}` : `${name}.${fieldName}`,
      number: spec.number,
      kind: spec.kind,
      message: spec.message,
    };
    fields.push(field);
    byNumber.push(field);
    defaults[fieldName] = spec.defaultValue;
  }
  return {
    name,
    fields,
    byNumber,
    defaults: Object.freeze(defaults) as { readonly [K in keyof F]: F[K]["defaultValue"] },
  };
}
