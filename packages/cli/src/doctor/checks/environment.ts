import { createServer } from 'node:net';

import { dependenciesOf, type Place } from '../place.js';
import { type Result, resultsOf } from '../result.js';

const port = resultsOf('port');
const secret = resultsOf('secret');

/** Packages that read the secret of the server. */
const SEALING = ['@decorum/audit', '@decorum/auth-server', '@decorum/files', '@decorum/redis', '@decorum/tasks'];

/** The code of the error with which a server can't listen; undefined if it can. */
async function refusal(number: number, host: string): Promise<string | undefined> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    server.listen(number, host, () => server.close(() => resolve(undefined)));
  });
}

/** Checks that the port of the server is free. */
export async function checkPort({ manifest, env }: Place): Promise<Result[]> {
  if (!('@decorum/http' in dependenciesOf(manifest))) return [];
  const { PORT: text = '', HOST: host = '' } = env;
  const number = text.trim() === '' ? 3000 : Number(text);
  if (!Number.isInteger(number) || number < 0 || number > 65_535) {
    return [port.problem(`PORT is "${text}"`, 'set it to a whole number from 0 to 65535')];
  }
  if (number === 0) return [port.ok('PORT is 0: any that is free')];
  const code = await refusal(number, host || '127.0.0.1');
  if (code === undefined) return [port.ok(`${number} is free`)];
  return code === 'EADDRINUSE'
    ? [port.warning(`${number} is taken, maybe by your own server`, 'end what listens there, or set PORT to another')]
    : [port.warning(`${number} can't be used (${code})`, 'set PORT or HOST to another')];
}

/** Checks that there is a secret if a package needs one that stays the same. */
export function checkSecret({ manifest, env }: Place): Result[] {
  const users = SEALING.filter((name) => name in dependenciesOf(manifest));
  if (users.length === 0) return [];
  if (env['DECORUM_SECRET']) return [secret.ok('DECORUM_SECRET is set')];
  const problem = `DECORUM_SECRET is not set, and ${users.join(', ')} may need one that stays the same`;
  return [secret.warning(problem, 'put the output of `openssl rand -base64 32` into .env, or pass `secret`')];
}
