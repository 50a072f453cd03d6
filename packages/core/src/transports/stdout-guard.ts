/**
 * Sends to stderr what anything else than the protocol writes to stdout: `console.log`, which writes there too, and
 * `process.stdout.write`. Not caught: file descriptor 1 itself, and children that inherit it.
 * @returns gives stdout back
 */
export function divertStdout(): () => void {
  const { stdout, stderr } = process;
  const before = Object.getOwnPropertyDescriptor(stdout, 'write');
  const divert = (...args: Parameters<typeof stderr.write>) => stderr.write(...args);
  stdout.write = divert as typeof stdout.write;
  return () => {
    // somebody may have put something in front of it in the meantime
    if (stdout.write !== divert) return;
    if (before) Object.defineProperty(stdout, 'write', before);
    else delete (stdout as Partial<typeof stdout>).write;
  };
}
