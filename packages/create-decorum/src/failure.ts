/** The exit codes of all commands. docs/reference/cli.md has the same table. */
export const EXIT_CODES = [
  { name: 'done', code: 0, meaning: 'done, or ended as asked' },
  { name: 'failed', code: 1, meaning: 'what you asked for failed' },
  { name: 'usage', code: 2, meaning: 'wrong usage: an unknown option or command, or a file that does not exist' },
  { name: 'environment', code: 3, meaning: 'something outside the project is missing or taken, such as the port' },
  { name: 'connection', code: 4, meaning: 'no connection to a server' },
  { name: 'toolError', code: 5, meaning: 'the tool answered with `isError`' },
  { name: 'serverError', code: 6, meaning: 'the server answered with an error of the protocol' },
  { name: 'unauthorized', code: 7, meaning: 'the server denies access' },
  { name: 'timeout', code: 8, meaning: 'the server has not answered in time' },
  // Node.js itself uses 9
  { name: 'model', code: 10, meaning: 'the model has failed, or has not chosen in time' },
  { name: 'interrupted', code: 130, meaning: 'you interrupted the command' },
] as const;

type ExitName = (typeof EXIT_CODES)[number]['name'];

/** The exit codes by name. */
export const EXIT = Object.fromEntries(EXIT_CODES.map(({ name, code }) => [name, code])) as Readonly<
  Record<ExitName, number>
>;

/** A failure that the user can fix. It is printed without a stack. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';

  /**
   * @param message what was wrong, where, and what to do next
   * @param exitCode one of `EXIT`
   * @param cause the error behind it, printed with `--debug`
   */
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failed,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}
