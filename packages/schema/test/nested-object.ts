/** An object nested `depth` times in the member `key`. */
export function nestedObject(depth: number, key: string): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let i = 0; i < depth; i++) value = { [key]: value };
  return value;
}
