/** How a planner's work was served, summed over its members. */
export interface PlannerReport {
  /** Value-keyed entries read from the view. */
  readonly probes: number;
  /** Probes that found an entry. */
  readonly hits: number;
  readonly misses: number;
  /** `getMany` calls. */
  readonly windows: number;
  /** Scans of one row that looked for spans without entries. */
  readonly absenceScans: number;
  /** Entries that such a span showed to be absent, so that no probe was needed. */
  readonly knownAbsent: number;
  /** Keys that a resident filter showed to be absent, so that no probe was needed. */
  readonly knownAbsentByFilter: number;
  readonly puts: number;
  readonly deletes: number;
  readonly noOps: number;
}
