import { pieceBlockBytes, maxFrameBytes } from "../limits.js";
import { ProtocolError } from "./protocol-error.js";

const lengthBytes = 4;

/**
 * Cuts a stream into frames, however its bytes come in. Holds at most one frame that is under way and what came with its last
 * piece: memory is taken as bytes arrive, never by a length that was only announced, and little more than they are.
 */
export class FrameSplitter {
  #mostBytes: number;
  #pieces: Uint8Array[] = [];
  /** The piece that was put together last, and the rest of its block. */
  #gathered = new Uint8Array();
  #room = new Uint8Array();
  #held = 0;
  /** Of the frame that is under way, once its length has come. */
  #wanted: number | undefined;

  constructor(mostBytes: number = maxFrameBytes) {
    this.#mostBytes = mostBytes;
  }

  /** Whether a frame has begun that is not complete. */
  get isInside(): boolean {
    return this.#held > 0 || this.#wanted !== undefined;
  }

  /** Longest frame from the next one on. */
  set mostBytes(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  push(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#held += piece.length;
    // One that comes alone is most often a whole frame.
    if (this.#pieces.length === 0 || piece.length >= pieceBlockBytes) this.#pieces.push(piece);
    else this.#gather(piece);
  }

  /** Puts a small piece into a block with those around it: by itself it would cost some hundred bytes more than it has. */
  #gather(piece: Uint8Array): void {
    if (this.#pieces.at(-1) !== this.#gathered || this.#room.length < piece.length) {
      this.#room = new Uint8Array(pieceBlockBytes);
      this.#gathered = this.#room.subarray(0, 0);
      this.#pieces.push(this.#gathered);
    }
    this.#room.set(piece);
    this.#room = this.#room.subarray(piece.length);
    const { buffer, byteOffset, length } = this.#gathered;
    this.#gathered = new Uint8Array(buffer, byteOffset, length + piece.length);
    this.#pieces[this.#pieces.length - 1] = this.#gathered;
  }

  /** The next complete frame without its length. Fails with `ProtocolError` for a length that no frame has. */
  next(): Uint8Array | undefined {
    if (this.#wanted === undefined) {
      if (this.#held < lengthBytes) return undefined;
      const length = this.#take(lengthBytes);
      const wanted = new DataView(length.buffer, length.byteOffset).getUint32(0, true);
      if (wanted < 1 || wanted > this.#mostBytes) {
        throw new ProtocolError(`a frame of ${wanted} bytes, which is not 1 to ${this.#mostBytes}`);
      }
      this.#wanted = wanted;
    }
    if (this.#held < this.#wanted) return undefined;
    const frame = this.#take(this.#wanted);
    this.#wanted = undefined;
    return frame;
  }

  /** The first bytes of what is held; a view where they lie in one piece. */
  #take(byteLength: number): Uint8Array {
    const [first] = this.#pieces;
    this.#held -= byteLength;
    if (first !== undefined && first.length >= byteLength) {
      if (first.length === byteLength) this.#pieces.shift();
      else this.#pieces[0] = first.subarray(byteLength);
      return first.subarray(0, byteLength);
    }
    const joined = new Uint8Array(byteLength);
    let filled = 0;
    let used = 0;
    for (const piece of this.#pieces) {
      const part = piece.subarray(0, byteLength - filled);
      joined.set(part, filled);
      filled += part.length;
      if (part.length < piece.length) {
        this.#pieces[used] = piece.subarray(part.length);
        break;
      }
      used++;
    }
    this.#pieces = this.#pieces.slice(used);
    return joined;
  }
}
