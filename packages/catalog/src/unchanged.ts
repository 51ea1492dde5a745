/** Tells later whether something still holds what it held now. */
export type Unchanged = () => boolean;

/** For what cannot change. */
export const always: Unchanged = () => true;

/** Whether a list still has the same elements. What these hold is not looked at. */
export function sameElements(list: readonly unknown[]): Unchanged {
  const copy = list.slice();
  return () => list.length === copy.length && copy.every((element, i) => element === list[i]);
}

/** Whether buffers still hold the same bytes. */
export function sameBytes(buffers: readonly unknown[]): Unchanged {
  const views = buffers.filter((buffer) => ArrayBuffer.isView(buffer));
  const copies = views.map((view) => Buffer.from(bytesOf(view)));
  return () => views.every((view, i) => copies[i]?.equals(bytesOf(view)) === true);
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
