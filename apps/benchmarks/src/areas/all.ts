import type { Area, BenchmarkContext } from "../benchmark.js";
import { besideLargeCommitsArea } from "./beside-large-commits.js";
import { bulkCommitArea } from "./bulk-commits.js";
import { commitArea } from "./commits.js";
import { groupCommitArea } from "./group-commits.js";
import { keyArea } from "./keys.js";
import { lookupArea } from "./lookups.js";
import { openArea } from "./open.js";
import { plainBindingArea } from "./plain-binding.js";
import { recordArea } from "./records.js";
import { scopedReadArea } from "./scoped-reads.js";
import { sqlArea } from "./sql.js";
import { storeArea } from "./store.js";

/** Every benchmark, in the order in which they run: from the bottom of the product up. */
export function areasOf(context: BenchmarkContext): Area[] {
  const areas = [
    keyArea,
    recordArea,
    storeArea,
    scopedReadArea,
    commitArea,
    groupCommitArea,
    bulkCommitArea,
    besideLargeCommitsArea,
    lookupArea,
    openArea,
    sqlArea,
    plainBindingArea,
  ];
  return areas.map((area) => area(context));
}
