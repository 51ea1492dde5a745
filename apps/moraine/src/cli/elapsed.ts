import { elapsedIntervalMs } from "../limits.js";
import type { Output } from "./output.js";
import { Progress } from "./progress.js";

/** What goes on now, with its seconds, for steps that cannot tell how far they are. Shown where progress is. */
export class Elapsed implements Disposable {
  readonly #progress: Progress;
  #timer: NodeJS.Timeout | undefined;

  constructor(output: Output) {
    this.#progress = new Progress(output);
  }

  begin(text: string): void {
    this.end();
    const startedMs = performance.now();
    const show = (): void => {
      const seconds = Math.floor((performance.now() - startedMs) / 1000);
      this.#progress.show(`${text} ...${seconds === 0 ? "" : ` ${seconds} s`}`);
    };
    show();
    this.#timer = setInterval(show, elapsedIntervalMs);
    // What is shown keeps no process alive.
    this.#timer.unref();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#progress.end();
  }

  [Symbol.dispose](): void {
    this.end();
  }
}
