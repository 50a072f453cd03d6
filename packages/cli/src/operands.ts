import { CommandFailure, EXIT } from 'create-decorum';

/** The operands of a command that runs a program. */
export interface Operands {
  readonly entry: string | undefined;
  /** Arguments of the program. */
  readonly args: readonly string[];
}

/**
 * Separates the entry from the arguments after `--`.
 * @param operands all of them, as commander passes them
 * @throws {CommandFailure} with `EXIT.usage` for more than one entry
 */
export function operandsOf(operands: readonly string[]): Operands {
  const dashes = process.argv.indexOf('--', 2);
  const theirs = dashes === -1 ? 0 : process.argv.length - dashes - 1;
  const [entry, ...more] = operands.slice(0, operands.length - theirs);
  if (more.length === 0) return { entry, args: operands.slice(operands.length - theirs) };
  throw new CommandFailure('Pass one entry. The arguments of the program follow after --.', EXIT.usage);
}
