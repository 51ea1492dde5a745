import { Elapsed } from "../cli/elapsed.js";
import { countText, durationText, type Output, tableText } from "../cli/output.js";
import type { Comparison } from "./compare.js";

/** Something that the demonstration did or found out, beside the comparisons. */
export interface Fact {
  readonly text: string;
  /** Whether it came out as it has to. */
  readonly holds: boolean;
}

/** Tells what the demonstration does while it does it, and remembers what has to hold. */
export class Report implements Disposable {
  readonly comparisons: Comparison[] = [];
  readonly facts: Fact[] = [];
  readonly #output: Output;
  readonly #isSilent: boolean;
  readonly #elapsed: Elapsed;
  #sections = 0;

  constructor(output: Output, isSilent: boolean) {
    this.#output = output;
    this.#elapsed = new Elapsed(output);
    this.#isSilent = isSilent;
  }

  get isCorrect(): boolean {
    return this.comparisons.every(({ isEqual }) => isEqual) && this.facts.every(({ holds }) => holds);
  }

  /** What is being done, until the next line: for those who wait at a terminal. */
  doing(text: string): void {
    this.#elapsed.begin(`   ${text}`);
  }

  line(text = ""): void {
    this.#elapsed.end();
    if (!this.#isSilent) this.#output.stdout.write(`${text}\n`);
  }

  section(title: string): void {
    this.#sections++;
    this.line();
    this.line(`${this.#sections}. ${title}`);
  }

  /** Something done, with how long it took. */
  step(text: string, elapsedMs: number): void {
    this.line(`   ${text.padEnd(88)} ${durationText(elapsedMs).padStart(9)}`);
  }

  /** Something that has to hold. */
  fact(text: string, holds: boolean): void {
    this.facts.push({ text, holds });
    this.line(`   ${holds ? "ok   " : "WRONG"} ${text}`);
  }

  /** What an index and a scan said to the same questions. */
  compared(comparisons: readonly Comparison[]): void {
    this.comparisons.push(...comparisons);
    const table = tableText<Comparison>(
      [
        { title: "question", text: ({ question }) => question },
        { title: "rows", text: ({ rows }) => countText(rows), right: true },
        { title: "index", text: ({ indexMs }) => durationText(indexMs), right: true },
        { title: "full scan", text: ({ scanMs }) => durationText(scanMs), right: true },
        { title: "faster by", text: ({ scanMs, indexMs }) => factorText(scanMs / indexMs), right: true },
        { title: "answers", text: ({ isEqual }) => (isEqual ? "equal" : "DIFFERENT") },
      ],
      comparisons,
    );
    this.line(table.replace(/^/gmu, "   "));
  }

  [Symbol.dispose](): void {
    this.#elapsed.end();
  }
}

function factorText(factor: number): string {
  return `${factor < 10 ? factor.toFixed(1) : countText(Math.round(factor))} x`;
}
