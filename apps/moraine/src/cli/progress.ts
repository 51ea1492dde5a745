import type { Output } from "./output.js";
import { progressIntervalMs } from "../limits.js";

/** One line on stderr that is written over again and again, when stderr is a terminal; nothing otherwise. */
export class Progress implements Disposable {
  readonly #output: Output;
  #shownAt = 0;
  #isShown = false;

  constructor(output: Output) {
    this.#output = output;
  }

  show(text: string): void {
    if (this.#output.stderr.isTTY !== true) return;
    const now = performance.now();
    if (this.#isShown && now - this.#shownAt < progressIntervalMs) return;
    this.#output.stderr.write(`\r\u001b[K${text}`);
    this.#shownAt = now;
    this.#isShown = true;
  }

  /** Clears the line. */
  end(): void {
    if (this.#isShown) this.#output.stderr.write("\r\u001b[K");
    this.#isShown = false;
  }

  /** So that no error is written behind the line. */
  [Symbol.dispose](): void {
    this.end();
  }
}
