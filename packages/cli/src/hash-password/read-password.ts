import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

import { CommandFailure } from 'create-decorum';

/** More than anybody types: the input is probably the wrong file. */
const MAX_BYTES = 4096;

/** Asks on the terminal, and shows nothing of the answers. stdout is for the hash alone. */
async function askTwice(): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  // before anything is asked, because the terminal shows what is typed until now
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true, historySize: 0 });
  const lines = terminal[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string> => {
    process.stderr.write(question);
    const { done, value } = await lines.next();
    process.stderr.write('\n');
    // Ctrl+C, Ctrl+D, or the terminal has gone
    if (done) throw new CommandFailure('Cancelled.');
    return value;
  };
  try {
    const password = required(await ask('Password: '));
    if ((await ask('Again: ')) === password) return password;
    throw new CommandFailure('These are two different passwords. Run the command again.');
  } finally {
    terminal.close();
  }
}

/** The first line of stdin. */
async function readLine(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (chunk.includes('\n') || size > MAX_BYTES) break;
  }
  const input = Buffer.concat(chunks);
  const end = input.indexOf('\n');
  const line = end === -1 ? input : input.subarray(0, end);
  if (line.length > MAX_BYTES) throw new CommandFailure(`The password is longer than ${MAX_BYTES} bytes.`);
  return required(textOf(line).replace(/\r$/, ''));
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new CommandFailure('The password on stdin is not UTF-8.', undefined, error);
  }
}

function required(password: string): string {
  if (password !== '') return password;
  throw new CommandFailure('The password is empty.');
}

/**
 * Reads a password from the terminal or, if there is none, from stdin.
 * @throws {CommandFailure} if there is none, or the user has typed two different ones
 */
export const readPassword = (): Promise<string> => (process.stdin.isTTY ? askTwice() : readLine());
