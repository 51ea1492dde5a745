export {
  containsStore,
  type DataPathOptions,
  followLinks,
  type Location,
  parseLocation,
  recordedDataPath,
} from "./location.js";
export { makeFolders } from "./make-folders.js";
export { isRunning, type ProcessIdentity, startOf } from "./process-identity.js";
export { runtimeFolder } from "./runtime-folder.js";
export { type Holder, readHolder, StoreLock } from "./store-lock.js";
