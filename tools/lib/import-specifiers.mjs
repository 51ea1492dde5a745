import ts from "typescript";

/**
 * One module that a source file names.
 * @typedef {object} ImportSpecifier
 * @property {string | undefined} specifier Undefined when the module is computed and cannot be known.
 * @property {number} line Counted from 1.
 */

/**
 * Every module that a TypeScript or JavaScript source names: import and export declarations, `import()` (of values and
 * of types), `import x = require()`, `require()`, `import.meta.resolve()`, and the module arguments of vitest's `vi.mock`
 * family.
 * @param {string} path Decides the dialect by its extension.
 * @param {string} text
 * @returns {ImportSpecifier[]}
 */
export function importSpecifiers(path, text) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  /** @type {ImportSpecifier[]} */
  const found = [];
  /**
   * @param {ts.Node} at
   * @param {ts.Node | undefined} specifier
   */
  const add = (at, specifier) => {
    found.push({
      specifier: specifier !== undefined && ts.isStringLiteralLike(specifier) ? specifier.text : undefined,
      line: file.getLineAndCharacterOfPosition(at.getStart(file)).line + 1,
    });
  };
  /** @param {ts.Node} node */
  const visit = (node) => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined) {
      add(node, node.moduleSpecifier);
    } else if (ts.isExternalModuleReference(node)) {
      add(node, node.expression);
    } else if (ts.isImportTypeNode(node)) {
      add(node, ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined);
    } else if (ts.isCallExpression(node) && namesModule(node.expression)) {
      add(node, node.arguments[0]);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/**
 * Is this callee one whose first argument names a module?
 * @param {ts.LeftHandSideExpression} callee
 * @returns {boolean}
 */
function namesModule(callee) {
  if (callee.kind === ts.SyntaxKind.ImportKeyword) {
    return true;
  }
  if (ts.isIdentifier(callee)) {
    return callee.text === "require";
  }
  if (!ts.isPropertyAccessExpression(callee)) {
    return false;
  }
  const on = callee.expression;
  const method = callee.name.text;
  if (ts.isMetaProperty(on)) {
    return method === "resolve";
  }
  if (!ts.isIdentifier(on)) {
    return false;
  }
  return (
    (on.text === "require" && method === "resolve") ||
    (on.text === "vi" && ["mock", "doMock", "importActual", "importMock"].includes(method))
  );
}
