/** How the compiler writes one export, and the list of several that it makes for Node.js. */
const ONE = /^Object\.defineProperty\(exports, "(.+)", \{$/gm;
const LIST = /^0 && \(module\.exports = \{\n([^}]*)\}\);/m;

function exportNames(code: string): readonly string[] {
  const list = LIST.exec(code)?.[1] ?? '';
  const listed = [...list.matchAll(/^ +(?:"(.+)"|(\S+)): null/gm)].map(([, quoted, plain = '']) => quoted ?? plain);
  const names = [...listed, ...[...code.matchAll(ONE)].map(([, name = '']) => name)];
  return names.filter((name) => name !== 'default' && name !== '__esModule');
}

/** The specifiers, in quotes, of the modules that are exported whole. */
function exportedModules(code: string): readonly string[] {
  return [...code.matchAll(/^0 && __export\(require\((".+")\)\);/gm)].map(([, module = '']) => module);
}

/**
 * An ES module that requires a CommonJS module and exports its names. Node.js reads these names from the file itself, and
 * finds none in TypeScript.
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
