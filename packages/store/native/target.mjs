// For which machines the native part is built, and with which flags. Plain Node without dependencies.

/**
 * @typedef {object} BuildKind
 * @property {boolean} release For others' machines: the C++ runtime goes into the addon.
 * @property {boolean} sanitize With AddressSanitizer and UndefinedBehaviorSanitizer.
 * @property {boolean} strict Warnings are errors.
 */

/**
 * @typedef {object} Flags
 * @property {readonly string[]} compile
 * @property {readonly string[]} link
 */

/** The C library as the process reports it; undefined on musl and outside Linux. */
function glibcVersion() {
  const report = /** @type {{ header?: { glibcVersionRuntime?: string } }} */ (process.report.getReport());
  return report.header?.glibcVersionRuntime;
}

/**
 * The name of this machine as platform packages have it, or undefined where the addon is neither shipped nor tried. The store
 * asks the same of its process in `src/native/platform.ts`, without a report, which would wait for the host name of every open
 * connection; what changes here changes there. (A build has no connections, and runs before those sources are compiled.)
 * @returns {string | undefined}
 */
export function targetTriple() {
  const { platform, arch } = process;
  if (arch !== "x64" && arch !== "arm64") return undefined;
  if (platform === "darwin") return `darwin-${arch}`;
  return platform === "linux" && glibcVersion() !== undefined ? `linux-${arch}-gnu` : undefined;
}

/**
 * What the compiler is told, apart from paths.
 * @param {BuildKind} kind
 * @param {{ staticRuntime: boolean }} options
 * @returns {Flags}
 */
export function flagsOf({ sanitize, strict }, { staticRuntime }) {
  const isLinux = process.platform === "linux";
  const sanitizers = sanitize
    ? ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g"]
    : [];
  return {
    compile: [
      "-std=c++17",
      sanitize ? "-O1" : "-O2",
      "-fPIC",
      "-fvisibility=hidden",
      "-pthread",
      "-Wall",
      "-Wextra",
      ...(strict ? ["-Werror"] : []),
      "-DNAPI_VERSION=8",
      ...sanitizers,
    ],
    link: [
      "-shared",
      "-pthread",
      ...sanitizers,
      // A worker that ends unloads its addons, while threads of the library may still come back into this one.
      ...(isLinux ? ["-Wl,-z,nodelete", "-ldl"] : ["-undefined", "dynamic_lookup"]),
      // The runtime inside must stay inside: its symbols are not to be taken for those of other libraries.
      ...(staticRuntime ? ["-static-libstdc++", "-static-libgcc", "-Wl,--exclude-libs,ALL", "-Wl,-s"] : []),
    ],
  };
}
