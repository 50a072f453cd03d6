/** Comments, strings, and single characters. A name may be a string or computed, and contain any of them. */
const TOKENS = /\/\*[^]*?\*\/|\/\/.*|(["'`])(?:\\[^]|(?!\1)[^\\])*\1|\.\.\.|\S/g;

/** How the parameters in the source of a function begin: `)` if there are none, `...` for a rest parameter. */
function beginningOf(method: unknown): string | undefined {
  let depth = 0;
  let isInside = false;
  for (const [token] of Function.prototype.toString.call(method).matchAll(TOKENS)) {
    if (/^\/[/*]/.test(token)) continue;
    if (isInside) return token;
    if (depth === 0 && token === '(') isInside = true;
    else if ('(['.includes(token)) depth += 1;
    else if (')]'.includes(token)) depth -= 1;
  }
  return undefined;
}

const lengthOf = (method: unknown): number => (method as { readonly length: number }).length;

/** Whether a method has parameters. Its `length` doesn't count those with default values, nor a rest parameter. */
export const hasParameters = (method: unknown): boolean => lengthOf(method) > 0 || beginningOf(method) !== ')';

/** Whether the first parameter of a method has a default value: if not, `length` would count it. */
export function hasDefault(method: unknown): boolean {
  // a name that objects have anyway may belong to another value than a function
  if (lengthOf(method) !== 0) return false;
  const beginning = beginningOf(method);
  return beginning !== undefined && beginning !== ')' && beginning !== '...';
}
