import { type LakeModel, qualified } from "./lake-model.js";
import { failed, type LakePair, ours, stock } from "./lake-pair.js";

/** Which tables do not hold the same rows, with the same row ids, on both lakes. */
export async function contentDifferences(pair: LakePair, model: LakeModel): Promise<string[]> {
  const differences: string[] = [];
  for (const table of model.tables) {
    const sql = `SELECT rowid, * FROM ${qualified(table)} ORDER BY ALL`;
    const [left, right] = [await pair.run(ours, sql), await pair.run(stock, sql)];
    if (failed(left) || failed(right)) {
      for (const outcome of [left, right]) if (failed(outcome)) differences.push(`${table.name}: ${outcome.error}`);
    } else if (left.rows.join("\n") !== right.rows.join("\n")) {
      differences.push(`${table.name}: ours:\n${left.rows.join("\n")}\nstock:\n${right.rows.join("\n")}`);
    }
  }
  return differences;
}
