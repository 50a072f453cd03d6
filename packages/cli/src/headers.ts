import { CommandFailure, EXIT } from 'create-decorum';

/** Collects the values of an option that can be repeated. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/**
 * The headers in lines of `--header`.
 * @throws {CommandFailure} with `EXIT.usage`
 */
export function headersOf(lines: readonly string[]): Record<string, string> {
  const pairs = lines.map((line) => {
    const [, name, value = ''] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined) throw new CommandFailure(`--header is "${line}". Write 'name: value'.`, EXIT.usage);
    return [name, value];
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}
