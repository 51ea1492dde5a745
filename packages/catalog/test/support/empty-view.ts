import { packValues, type ReadView } from "@moraine/store";

/** A store that holds nothing, for `PendingWrites.over`. */
export const emptyView: ReadView = {
  getMany: (keys) => Promise.resolve(packValues(Array.from(keys.ends, () => undefined))),
  // oxlint-disable-next-line require-yield
  async *scan() {
    await Promise.resolve();
  },
};
