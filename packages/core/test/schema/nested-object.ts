/** An object that holds itself in `key`, `depth` times over. */
export function nestedObject(depth: number, key: string): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let i = 0; i < depth; i++) value = { [key]: value };
  return value;
}
