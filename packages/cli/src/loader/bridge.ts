/** How the compiler writes a single export, and the list of exports that it adds for Node.js. */
const ONE = /^Object\.defineProperty\(exports, "(.+)", \{$/gm;
const LIST = /^0 && \(module\.exports = \{\n([^}]*)\}\);/m;

function exportNames(code: string): readonly string[] {
  const list = LIST.exec(code)?.[1] ?? '';
  const listed = [...list.matchAll(/^ +(?:"(.+)"|(\S+)): null/gm)].map(([, quoted, plain = '']) => quoted ?? plain);
  const names = [...listed, ...[...code.matchAll(ONE)].map(([, name = '']) => name)];
  return names.filter((name) => name !== 'default' && name !== '__esModule');
}

/** The quoted specifiers of modules that are re-exported with `export *`. */
function exportedModules(code: string): readonly string[] {
  return [...code.matchAll(/^0 && __export\(require\((".+")\)\);/gm)].map(([, module = '']) => module);
}

/**
 * An ES module that requires a CommonJS module and exports its names. Without it, Node.js would look for the names in
 * the TypeScript file and find none.
 * @param code the compiled file
 */
export function bridge(file: string, code: string): string {
  const bindings = exportNames(code).map((name, i) => {
    const quoted = JSON.stringify(name);
    return `const $${i} = exported[${quoted}]; export { $${i} as ${quoted} };`;
  });
  return [
    `import { createRequire } from 'node:module';`,
    `const exported = createRequire(import.meta.url)(${JSON.stringify(file)});`,
    `export default exported;`,
    ...bindings,
    ...exportedModules(code).map((module) => `export * from ${module};`),
  ].join('\n');
}
