import { channel } from "node:diagnostics_channel";

/** A writer that was silent for too long and opened its store again, told on `moraine:store.recovery` when that is done. */
export interface RecoveryEvent {
  readonly location: string;
  /** Batches that were not acknowledged and are applied again, and their bytes. */
  readonly batches: number;
  readonly bytes: number;
  readonly durationMs: number;
}

export const recoveryChannel = channel("moraine:store.recovery");
