// Run before a package is packed (`prepack`). npm would leave `workspace:*` in the manifest, which nobody can install; pnpm
// writes versions there.
import { isMain } from "./lib/command-line.mjs";

/**
 * What to say to whoever packs with another program than pnpm.
 * @param {string | undefined} userAgent As package managers set it for the scripts that they run: `pnpm/10.0.0 npm/? ...`.
 * @returns {string | undefined}
 */
export function packerProblem(userAgent) {
  if (userAgent?.startsWith("pnpm/") === true) return undefined;
  return "npm leaves workspace: references in the package, which cannot be installed. Pack with `npx pnpm pack`.";
}

if (isMain(import.meta.url)) {
  const problem = packerProblem(process.env["npm_config_user_agent"]);
  if (problem !== undefined) {
    console.error(problem);
    process.exitCode = 1;
  }
}
