import type { Latency } from "./measure.js";
import type { Target } from "./targets.js";

/** One measured figure, as it goes into the table and the JSON. */
export interface Figure {
  readonly name: string;
  /** A rate, the median time or the size. `null`: could not be measured here; `note` says why. */
  readonly value: number | null;
  readonly unit: string;
  /** Of times: the 99th percentile, in the same unit. */
  readonly p99?: number;
  readonly target?: Target;
  readonly note?: string;
}

/** What a figure carries beside its value. */
export type FigureDetail = Pick<Figure, "target" | "note">;

/** So many `what` a second. */
export function rate(name: string, what: string, perSecond: number, detail: FigureDetail = {}): Figure {
  return { name, value: perSecond, unit: `${what}/s`, ...detail };
}

const perSecond = { us: 1e6, ms: 1e3 } as const;

/** Median and 99th percentile of a time. */
export function latency(
  name: string,
  unit: keyof typeof perSecond,
  measured: Latency,
  detail: FigureDetail = {},
): Figure {
  const scale = perSecond[unit];
  return { name, value: measured.p50Seconds * scale, unit, p99: measured.p99Seconds * scale, ...detail };
}

/** A time that is taken a few times only, so that percentiles would say nothing. */
export function duration(
  name: string,
  unit: keyof typeof perSecond,
  seconds: number,
  detail: FigureDetail = {},
): Figure {
  return { name, value: seconds * perSecond[unit], unit, ...detail };
}
