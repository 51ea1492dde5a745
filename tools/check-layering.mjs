// Packages import downward only, by the table in layers.mjs, and only through package entry points; packages without
// input and output import nothing of Node. Package.json dependencies and compiler references follow the same table.
import { existsSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, posix } from "node:path";
import { isMain, reportProblems, rootFrom } from "./lib/command-line.mjs";
import { importSpecifiers } from "./lib/import-specifiers.mjs";
import { allDependencies, listFiles, listPackages } from "./lib/workspace.mjs";
import { layers } from "./layers.mjs";

const sourcePattern = /\.(ts|mts|cts|tsx|js|mjs|cjs)$/;
const testPattern = /(\.(test|bench)\.[a-z]+$)|(^|\/)(test|testing|bench)\//;

/**
 * `@scope/name/sub/path` to `@scope/name`.
 * @param {string} specifier
 * @returns {string}
 */
function packageName(specifier) {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/**
 * @param {import("./lib/workspace.mjs").WorkspacePackage} from
 * @param {string} file
 * @returns {boolean}
 */
function isTestCode(from, file) {
  return testPattern.test(file.slice(from.folder.length));
}

/**
 * A module that is computed at run time could be anything. Tests may do so, to load what they have just written.
 * @param {import("./lib/workspace.mjs").WorkspacePackage} from
 * @param {string} file
 * @returns {string | undefined}
 */
function computedProblem(from, file) {
  return isTestCode(from, file) ? undefined : "the module is computed: name it literally";
}

/**
 * Test helpers are not published, so a test reaches those of a package that its own may import by their path.
 * @param {string} target
 * @param {import("./layers.mjs").Layer} layer
 */
function isTestHelperBelow(target, layer) {
  const match = /^packages\/([^/]+)\/test\/[^/]+\.js$/.exec(target);
  return match !== null && layer.mayImport.includes(`@moraine/${match[1]}`);
}

/**
 * Build scripts are not published, so one finds a compiler by the path of the module that does, in a package below.
 * @param {string} file
 * @param {string} target
 * @param {import("./layers.mjs").Layer} layer
 */
function isCompilerSearchBelow(file, target, layer) {
  const match = /^packages\/([^/]+)\/native\/compiler\.mjs$/.exec(target);
  const isBuildScript = /^packages\/[^/]+\/native\/[^/]+\.mjs$/.test(file);
  return isBuildScript && match !== null && layer.mayImport.includes(`@moraine/${match[1]}`);
}

/**
 * What is wrong with one import, or undefined.
 * @param {object} context
 * @param {string} context.specifier
 * @param {string} context.file Path of the importing file from the root.
 * @param {import("./lib/workspace.mjs").WorkspacePackage} context.from
 * @param {import("./layers.mjs").Layer} context.layer
 * @param {ReadonlySet<string>} context.entryPoints
 * @returns {string | undefined}
 */
function importProblem({ specifier, file, from, layer, entryPoints }) {
  const isTest = isTestCode(from, file);
  if (specifier.startsWith(".")) {
    const target = posix.join(posix.dirname(file), specifier);
    if (isTest && (target.startsWith("golden/") || isTestHelperBelow(target, layer))) {
      return undefined;
    }
    if (isCompilerSearchBelow(file, target, layer)) return undefined;
    if (!target.startsWith(`${from.folder}/`)) {
      return `"${specifier}" leaves the package: use the other package's name`;
    }
    return !isTest && isTestCode(from, target.replace(/\.js$/, ".ts")) ? `"${specifier}" is test code` : undefined;
  }
  if (specifier.startsWith("/") || specifier.startsWith("file:")) {
    return `"${specifier}" is an absolute path`;
  }
  const name = packageName(specifier);
  if (name === from.manifest.name) {
    return isTest ? undefined : `"${specifier}" is the package itself: use a relative path`;
  }
  if (entryPoints.has(name) || name.startsWith("@moraine/")) {
    if (!layer.mayImport.includes(name)) {
      return `"${specifier}" is not below ${from.manifest.name}`;
    }
    return entryPoints.has(specifier) ? undefined : `"${specifier}" goes past the entry points of ${name}`;
  }
  if (layer.onlyExternal === undefined || isTest) {
    return undefined;
  }
  if (isBuiltin(specifier)) {
    return `"${specifier}": ${from.manifest.name} does no input or output`;
  }
  return layer.onlyExternal.includes(name) ? undefined : `"${specifier}" is not among the libraries it may use`;
}

/**
 * Every specifier by which a package of the workspace may be imported: its name and the subpaths that it exports.
 * @param {readonly import("./lib/workspace.mjs").WorkspacePackage[]} packages
 * @returns {ReadonlySet<string>}
 */
function listEntryPoints(packages) {
  return new Set(
    packages.flatMap(({ manifest }) => [
      manifest.name,
      ...Object.keys(manifest.exports ?? {})
        .filter((path) => path !== ".")
        .map((path) => posix.join(manifest.name, path)),
    ]),
  );
}

/**
 * @param {string} root
 * @param {import("./lib/workspace.mjs").WorkspacePackage} from
 * @param {ReadonlySet<string>} entryPoints
 * @returns {string[]}
 */
function sourceProblems(root, from, entryPoints) {
  const layer = layers[from.folder];
  if (layer === undefined) {
    return [`${from.folder}: not in tools/layers.mjs`];
  }
  return listFiles(root, from.folder)
    .filter((file) => sourcePattern.test(file))
    .flatMap((file) =>
      importSpecifiers(file, readFileSync(join(root, file), "utf8")).flatMap(({ specifier, line }) => {
        const problem =
          specifier === undefined
            ? computedProblem(from, file)
            : importProblem({ specifier, file, from, layer, entryPoints });
        return problem === undefined ? [] : [`${file}:${line}: ${problem}`];
      }),
    );
}

/**
 * @param {import("./lib/workspace.mjs").WorkspacePackage} from
 * @param {ReadonlySet<string>} workspaceNames
 * @returns {string[]}
 */
function manifestProblems({ folder, manifest }, workspaceNames) {
  const layer = layers[folder];
  return Object.entries(allDependencies(manifest))
    .filter(([name]) => workspaceNames.has(name))
    .flatMap(([name, range]) => {
      /** @type {string[]} */
      const problems = [];
      if (layer !== undefined && !layer.mayImport.includes(name)) {
        problems.push(`${folder}/package.json: ${name} is not below ${manifest.name}`);
      }
      if (range !== "workspace:*") {
        problems.push(`${folder}/package.json: ${name} must be "workspace:*"`);
      }
      return problems;
    });
}

/**
 * Compiler references: each package lists the packages it depends on, and the root list has every package.
 * @param {string} root
 * @param {readonly import("./lib/workspace.mjs").WorkspacePackage[]} packages
 * @returns {string[]}
 */
function referenceProblems(root, packages) {
  /** @param {string} path */
  const referencesOf = (path) => {
    const config = /** @type {{ references?: { path: string }[] }} */ (
      JSON.parse(readFileSync(join(root, path), "utf8"))
    );
    return new Set((config.references ?? []).map((reference) => posix.join(posix.dirname(path), reference.path)));
  };
  // Platform packages hold no sources.
  const compiled = packages.filter(({ folder }) => existsSync(join(root, folder, "tsconfig.json")));
  const folderOf = new Map(compiled.map(({ folder, manifest }) => [manifest.name, folder]));
  const built = existsSync(join(root, "tsconfig.build.json")) ? referencesOf("tsconfig.build.json") : new Set();
  return compiled.flatMap(({ folder, manifest }) => {
    const references = referencesOf(`${folder}/tsconfig.json`);
    const missing = Object.keys(allDependencies(manifest))
      .flatMap((name) => folderOf.get(name) ?? [])
      .filter((wanted) => !references.has(wanted))
      .map((wanted) => `${folder}/tsconfig.json: no reference to ${wanted}, on which it depends`);
    return built.has(folder) ? missing : [...missing, `tsconfig.build.json: no reference to ${folder}`];
  });
}

/**
 * All breaches of the layering in a workspace, one line each.
 * @param {string} root
 * @returns {string[]}
 */
export function checkLayering(root) {
  const packages = listPackages(root);
  const workspaceNames = new Set(packages.map(({ manifest }) => manifest.name));
  const entryPoints = listEntryPoints(packages);
  return [
    ...packages.flatMap((from) => sourceProblems(root, from, entryPoints)),
    ...packages.flatMap((from) => manifestProblems(from, workspaceNames)),
    ...referenceProblems(root, packages),
  ];
}

if (isMain(import.meta.url)) {
  const root = rootFrom(process.argv);
  reportProblems("layering", checkLayering(root), `${listPackages(root).length} packages import downward only`);
}
