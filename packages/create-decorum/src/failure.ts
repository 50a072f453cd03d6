/** The exit codes of all commands, as in docs/cli.md. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  environment: 3,
  connection: 4,
  toolError: 5,
} as const;

/** A failure of a command that its user can mend: printed without a stack. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';

  /**
   * @param message what was wrong, where, and what to do next
   * @param exitCode one of `EXIT`
   */
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message);
  }
}
