import { ConstraintError, decodeRowId, type EntityValue } from "@moraine/codec";
import { refusedClaim, type RefusedClaim } from "@moraine/index-core";
import { getOne, type ReadView } from "@moraine/store";
import { findLiveRow } from "../inline/chunks.js";
import { quoted } from "../model/error-text.js";
import type { CatalogState } from "../model/state.js";
import { inDenseRange } from "./supplied-entries.js";
import type { TableFiles } from "./table-files.js";

type DataFile = EntityValue["data_file"];

/** Files of a table that are looked into for one refusal: beyond them it is told as it came. */
const searchedFiles = 32;

/** Where a holder is looked for: the head at which the refusal is told. */
export interface HolderPlace {
  readonly state: CatalogState;
  readonly view: ReadView;
  readonly files: TableFiles | undefined;
}

/**
 * Words the refusal of a claim whose holder is not live: the index then holds a stale entry, and the table no duplicate
 * (specification, "Uniqueness enforcement"). `undefined` where the holder lives, or that cannot be told.
 */
export async function staleHolder(place: HolderPlace, error: unknown): Promise<ConstraintError | undefined> {
  const claim = refusedClaim(error);
  const definition = claim === undefined ? undefined : place.state.indexById(claim.indexId);
  if (claim === undefined || definition === undefined) return undefined;
  // A holder that has died since then has taken its entry along.
  if (!(await isHeld(place.view, claim))) return undefined;
  if (await mayLive(place, definition.tableId, claim.holdingRowId)) return undefined;
  return new ConstraintError(
    `index ${quoted(claim.name)} (id ${claim.indexId}): row ${claim.claimingRowId} claims a value under which the index holds a stale entry of row ${claim.holdingRowId}, which is not live`,
    {
      remedy: "Drop the index and create it again. The table holds no duplicate: report how it came to the entry.",
      cause: error,
    },
  );
}

async function isHeld(view: ReadView, { key, holdingRowId }: RefusedClaim): Promise<boolean> {
  const value = await getOne(view, key);
  return value !== undefined && decodeRowId(value) === holdingRowId;
}

async function mayLive({ state, view, files }: HolderPlace, tableId: bigint, rowId: bigint): Promise<boolean> {
  if ((await findLiveRow(view, tableId, rowId)) !== undefined) return true;
  const dataFiles = [...state.list("data_file", tableId)];
  if (dataFiles.length > searchedFiles || (files === undefined && dataFiles.length > 0)) return true;
  for (const file of dataFiles) {
    if (files !== undefined && (await mayHold(files, state, view, file, rowId))) return true;
  }
  return false;
}

/** Whether a file may have the row alive. One that embeds its ids is not searched for it. */
async function mayHold(
  files: TableFiles,
  state: CatalogState,
  view: ReadView,
  file: DataFile,
  rowId: bigint,
): Promise<boolean> {
  if (await files.embedsRowIds(state, file)) return true;
  if (file.rowIdStart === undefined || !inDenseRange(file, rowId)) return false;
  const position = Number(rowId - file.rowIdStart);
  return !(await files.deadPositions(state, view, file)).has(position);
}
