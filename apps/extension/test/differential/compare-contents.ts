import { type LakeModel, qualified } from "./lake-model.js";
import { type LakePair, ours, stock } from "./lake-pair.js";

/** Which tables do not hold the same rows, with the same row ids, on both lakes. */
export async function contentDifferences(pair: LakePair, model: LakeModel): Promise<string[]> {
  const differences: string[] = [];
  for (const table of model.tables) {
    const sql = `SELECT rowid, * FROM ${qualified(table)} ORDER BY ALL`;
    const contents = async (lake: string): Promise<string> => (await pair.rows(pair.textFor(lake, sql))).join("\n");
    const [left, right] = [await contents(ours), await contents(stock)];
    if (left !== right) differences.push(`${table.name}: ours:\n${left}\nstock:\n${right}`);
  }
  return differences;
}
