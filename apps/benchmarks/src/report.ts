import type { Figure } from "./figure.js";
import { reaches, type Target } from "./targets.js";

const nameWidth = 70;
const valueWidth = 22;
const p99Width = 18;
const targetWidth = 20;

export function headerLine(): string {
  return columns("", "median", "p99", "target", "");
}

/** One row of the table. Without `judged` the target is shown and nothing is said about it. */
export function figureLine(figure: Figure, judged: boolean): string {
  const { name, value, unit, p99, target, note } = figure;
  const verdict =
    !judged || value === null || target === undefined ? "" : reaches(value, target) ? "reached" : "NOT REACHED";
  return columns(
    `  ${name}`,
    value === null ? "not measured" : `${number(value)} ${unit}`,
    p99 === undefined ? "" : `${number(p99)} ${unit}`,
    target === undefined ? "" : targetText(target, unit),
    [verdict, note].filter((part) => part !== undefined && part !== "").join("  "),
  );
}

/** What the targets came to, those that were not reached by name. */
export function summaryLines(figures: readonly Figure[]): string[] {
  const measured = figures.filter(({ value, target }) => value !== null && target !== undefined);
  const missed = measured.filter(({ value, target }) => !reaches(value as number, target as Target));
  return [
    `${measured.length - missed.length} of ${measured.length} targets reached`,
    ...missed.map(({ name, value, unit, target }) => {
      return `  not reached: ${name}: ${number(value as number)} ${unit}, target ${targetText(target as Target, unit)}`;
    }),
  ];
}

/** A count in a name, with separators. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** Three digits that count; thousands and millions where they read better. */
function number(value: number): string {
  if (value >= 1e6) return `${digits(value / 1e6)} M`;
  if (value >= 1e5) return `${digits(value / 1e3)} k`;
  return digits(value);
}

function digits(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

function targetText({ relation, value }: Target, unit: string): string {
  return `${relation === "at least" ? ">=" : "<="} ${number(value)} ${unit}`;
}

function columns(name: string, value: string, p99: string, target: string, rest: string): string {
  return [
    name.padEnd(nameWidth),
    value.padStart(valueWidth),
    p99.padStart(p99Width),
    target.padStart(targetWidth),
    `  ${rest}`,
  ]
    .join("")
    .trimEnd();
}
