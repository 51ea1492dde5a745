import type { RecordBatchParts } from "./arrow-body.js";
import type { RegisteredSchema } from "./registry.js";

/** The rows of a chunk, apart from the ids that they get. */
export interface InlineContent {
  /** `undefined`: the table's version at the commit. */
  readonly schemaVersion: bigint | undefined;
  readonly schema: RegisteredSchema;
  readonly body: Uint8Array;
  readonly parts: RecordBatchParts | undefined;
  readonly rowCount: number;
}
