import type { LakeSettings } from "../lake.js";
import type { MessageOf } from "../wire/messages.js";

/** What an application that connects says about how its lake is opened. Secrets it has none: the service's environment counts. */
export function connectSettings({ cwd, dataPath, encrypted }: MessageOf<"connect">): LakeSettings {
  const options = new Map<string, string>();
  if (dataPath !== undefined) options.set("data_path", dataPath);
  if (encrypted !== undefined) options.set("encrypted", String(encrypted));
  return { readOnly: false, cwd, options, storeSecret: new Map(), dataSecret: new Map() };
}
