import { decodeValue, encodeValue, MaintenanceStatusValue, sysMaintenanceStatusKey } from "@moraine/codec";
import { getOne, type ReadView } from "@moraine/store";
import type { Committer } from "./engine/committer.js";
import { maintenanceHistoryPasses } from "./engine/limits.js";
import { stampHead } from "./engine/stamp-head.js";
import { WriteSet } from "./engine/pending-writes.js";
import { checkArray, checkKnown, checkOneOf, checkString, checkText, type Names } from "./verbs/arguments.js";

/** One step of a maintenance pass. */
export interface MaintenanceStep {
  readonly step: string;
  readonly status: "ran" | "skipped" | "failed";
  /** What it did, or why not. */
  readonly detail: string;
}

const maintenanceStepNames: Names<MaintenanceStep> = { step: true, status: true, detail: true };

export interface MaintenancePass {
  /** Microseconds since the epoch, UTC. */
  readonly startedAtMicros: bigint;
  /** `manual`, `scheduled`, or the caller's own word. */
  readonly trigger: string;
  readonly steps: readonly MaintenanceStep[];
}

const maintenancePassNames: Names<MaintenancePass> = { startedAtMicros: true, trigger: true, steps: true };

/** Passes that were recorded, the newest first. */
export async function readMaintenanceStatus(view: ReadView): Promise<MaintenancePass[]> {
  const { passes } = await readRecord(view);
  return passes
    .map((pass) => ({
      ...pass,
      steps: pass.steps.map((step) => ({ ...step, status: step.status as MaintenanceStep["status"] })),
    }))
    .reverse();
}

/** Adds a pass to the record, which keeps the newest few. Makes no snapshot. */
export async function recordMaintenancePass(
  committer: Committer,
  /** The store as what is staged will leave it: passes recorded at the same time must not lose each other. */
  currentView: () => ReadView,
  pass: MaintenancePass,
): Promise<void> {
  const checked = checkPass(pass);
  await committer.commit(async (base) => {
    const { passes } = await readRecord(currentView());
    const writes = new WriteSet();
    const kept = [...passes, checked].slice(-maintenanceHistoryPasses);
    writes.put(sysMaintenanceStatusKey, encodeValue(MaintenanceStatusValue, { passes: kept }));
    return { commits: [stampHead(base, writes)], result: undefined };
  });
}

async function readRecord(view: ReadView): Promise<MaintenanceStatusValue> {
  const bytes = await getOne(view, sysMaintenanceStatusKey);
  return bytes === undefined ? { passes: [] } : decodeValue(MaintenanceStatusValue, bytes);
}

function checkPass(pass: MaintenancePass): MaintenancePass {
  checkKnown(pass, maintenancePassNames, "pass");
  checkText(pass.trigger, "pass.trigger");
  for (const [at, step] of checkArray(pass.steps, "pass.steps").entries()) {
    const here = `pass.steps[${at}]`;
    checkKnown(step, maintenanceStepNames, here);
    checkText(step.step, `${here}.step`);
    checkOneOf(step.status, ["ran", "skipped", "failed"], `${here}.status`);
    checkString(step.detail, `${here}.detail`);
  }
  return pass;
}
