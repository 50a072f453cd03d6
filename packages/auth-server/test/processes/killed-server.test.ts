// What clients and users still have after their server was killed again and again. It runs the built package.
import { expect, it } from '@jest/globals';

import { createFolder } from '../fixture-store.js';
import { freePort, MortalServer, ServerProcess } from './server-process.js';
import { Browser, call, type CodeForm, exchange, refresh, register, type Tokens, tokensIn } from './sign-in.js';

const REDIRECT = 'https://app.example/callback';

/** At least 8 × 26 sign-ins and refreshes, of which each sixth is a sign-in. */
const [CLIENTS, STEPS, SIGN_IN_EACH] = [8, 26, 6];
const KILLS = 10;

/** A client that always goes on from the last answer that it has got. */
class Client {
  id = '';
  /** The tokens of each answer, in order. */
  readonly tokens: Tokens[] = [];
  /** What the last code was exchanged with. */
  code: CodeForm = {};
  private repeated = 0;
  private readonly browser: Browser;

  constructor(
    private readonly server: MortalServer,
    user: string,
  ) {
    this.browser = new Browser(server.origin, user, () => server.next());
  }

  get latest(): Tokens {
    return this.tokens.at(-1) as Tokens;
  }

  /** A refresh token whose successor was used. */
  get older(): string {
    return this.tokens.at(-3)?.refresh_token as string;
  }

  async run(): Promise<void> {
    this.id = await this.untilAnswered(() => register(this.server.next(), REDIRECT));
    for (let step = 0; step < STEPS || this.server.kills < KILLS; step++) {
      await (step % SIGN_IN_EACH === 0 ? this.signIn() : this.refresh());
    }
  }

  async refresh(): Promise<void> {
    const token = this.latest.refresh_token;
    const answer = await this.untilAnswered(() => refresh(this.server.next(), this.id, token));
    this.tokens.push(tokensIn(answer));
  }

  /** Whether the user is asked for consent again. */
  async asksAgain(): Promise<boolean> {
    return (await this.browser.allow(this.id, REDIRECT)).asked;
  }

  private async signIn(): Promise<void> {
    for (;;) {
      const { form } = await this.untilAnswered(() => this.browser.allow(this.id, REDIRECT));
      const before = this.repeated;
      const answer = await this.untilAnswered(() => exchange(this.server.next(), form));
      // the first answer was lost, so the code is used: the user signs in again
      if (answer.status === 400 && this.repeated > before) continue;
      this.tokens.push(tokensIn(answer));
      this.code = form;
      return;
    }
  }

  /** Sends the same again if the server has died. Whatever it answers is an answer of a server that works. */
  private async untilAnswered<T>(request: () => Promise<T>): Promise<T> {
    for (;;) {
      await this.server.up();
      try {
        return await request();
      } catch (error) {
        // fetch has failed, or the answer was cut off
        if ((error as Error).name !== 'TypeError') throw error;
        this.repeated += 1;
      }
    }
  }
}

const isRefused = { status: 400, text: expect.stringContaining('invalid_grant') };

it('loses no answered token and accepts none twice while it is killed ten times', async () => {
  const server = new MortalServer(createFolder(), await freePort());
  const clients = Array.from({ length: CLIENTS }, (_, n) => new Client(server, `user-${n}`));
  await Promise.all(clients.map((client) => client.run()));
  await server.up();
  server.spare();

  // signing keys, grants, and each latest refresh token
  for (const { tokens } of clients) expect(await call(server.origin, tokens[0]?.access_token as string)).toBe(200);
  for (const client of [...clients, ...clients]) await client.refresh();
  // registrations, sessions and remembered consents
  for (const client of clients) expect(await client.asksAgain()).toBe(false);

  for (const [n, client] of clients.entries()) {
    const replayed =
      n % 2 === 0 ? refresh(server.origin, client.id, client.older) : exchange(server.origin, client.code);
    expect(await replayed).toMatchObject(isRefused);
  }
  await server.kill();
  for (const { id, latest } of clients) {
    expect(await refresh(server.origin, id, latest.refresh_token)).toMatchObject(isRefused);
    expect(await call(server.origin, latest.access_token)).toBe(401);
  }
}, 300_000);

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'waits for a folder in use, and serves its clients after %s',
  async (signal) => {
    const [folder, port] = [createFolder(), await freePort()];
    const origin = `http://127.0.0.1:${port}`;
    const first = new ServerProcess(folder, port);
    await first.prints('begun');
    await first.prints('ready');
    const id = await register(origin, REDIRECT);
    const { form } = await new Browser(origin, 'ada').allow(id, REDIRECT);
    const second = new ServerProcess(folder, port);
    await second.prints('begun');
    const tokens = tokensIn(await exchange(origin, form));
    await first.end(signal);
    await second.prints('ready');
    expect(await call(origin, tokens.access_token)).toBe(200);
    expect(await refresh(origin, id, tokens.refresh_token)).toMatchObject({ status: 200 });
    expect(await exchange(origin, form)).toMatchObject(isRefused);
  },
);
