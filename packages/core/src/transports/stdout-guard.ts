/**
 * Sends to stderr what anything else than the protocol writes to stdout: `console.log`, which writes there too, and
 * `process.stdout.write`. Not caught: file descriptor 1 itself, and children that inherit it.
 * @returns gives stdout back
 */
export function divertStdout(): () => void {
  const { stdout, stderr } = process;
  const { write } = stdout;
  const divert = (...args: Parameters<typeof write>) => stderr.write(...args);
  stdout.write = divert as typeof write;
  return () => {
    // somebody may have put something in front of it in the meantime
    if (stdout.write === divert) stdout.write = write;
  };
}
