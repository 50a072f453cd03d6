// Strategies of passport as `auth`, and users that are signed in already as the caller.
import { inspect } from 'node:util';

import { type Context, NoInput, Tool } from '@decorum/core';
import { type McpModuleOptions, passport } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { expect, it } from '@jest/globals';
import { Injectable, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

import { closing, forRoot, moduleOf, textIn } from './fixture.js';

/** What passport gives a strategy. */
interface Decisions {
  success(user: object, info?: unknown): void;
  fail(challenge?: unknown, status?: number): void;
  pass(): void;
  redirect(url: string): void;
  error(error: Error): void;
}

/** A strategy that decides by the header that is given. */
class HeaderStrategy {
  constructor(private readonly decide: (decisions: Decisions, value: string | undefined) => unknown) {}

  authenticate(this: HeaderStrategy & Decisions, request: { readonly headers: Record<string, string> }) {
    return this.decide(this, request.headers['authorization'] ?? request.headers['x-api-key']);
  }
}

@Injectable()
class Shop {
  @Tool()
  whoami(_input: NoInput, { principal }: Context) {
    return principal ?? 'nobody';
  }
}

/** Starts an application. Resolves with its address and what it logs as errors. */
async function start(options: Partial<McpModuleOptions>, middleware?: (request: { user?: object }) => void) {
  const errors: string[] = [];
  const logger: LoggerService = { log() {}, warn() {}, error: (...parts) => void errors.push(inspect(parts)) };
  const module = moduleOf({ imports: [forRoot(options)], providers: [Shop] });
  const app = closing(await NestFactory.create(module, { logger }));
  app.use((request: object, _response: object, next: () => void) => {
    middleware?.(request);
    next();
  });
  await app.listen(0, '127.0.0.1');
  return { url: `${await app.getUrl()}/mcp`, errors };
}

async function callerAt(url: string, headers: Record<string, string> = {}): Promise<unknown> {
  const client = await connect(url, { headers });
  const text = textIn(await client.callTool('whoami'));
  await client.close();
  return text.startsWith('{') ? JSON.parse(text) : text;
}

async function answerTo(url: string, headers: Record<string, string>) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  return { status: response.status, challenge: response.headers.get('www-authenticate'), body: await response.text() };
}

const TOKEN = { authorization: 'Bearer secret' };

it.each([
  ['a string', { id: 'u1' }, { subject: 'u1' }],
  ['a number, even 0', { id: 0 }, { subject: '0' }],
  ['the payload of a token', { sub: 'u2', id: 'x', exp: 4e9 }, { subject: 'u2', expiresAt: 4e12 }],
  ['a user with scopes', { userId: 'u3', scopes: ['read'] }, { subject: 'u3', scopes: ['read'] }],
])('makes the caller from %s (#23)', async (_what, user, principal) => {
  const { url } = await start({ auth: passport(new HeaderStrategy((decisions) => decisions.success(user))) });
  expect(await callerAt(url, TOKEN)).toEqual(principal);
});

it('lets the application make the caller (#23)', async () => {
  const strategy = new HeaderStrategy((decisions) => decisions.success({ email: 'ada@example.com' }, { scope: 'all' }));
  const principal = ({ email }: { email: string }, { scope }: { scope: string }) => ({
    subject: email,
    scopes: [scope],
  });
  const { url } = await start({ auth: passport(strategy, { principal }) });
  expect(await callerAt(url, TOKEN)).toEqual({ subject: 'ada@example.com', scopes: ['all'] });
});

it.each([
  ['the challenge of the strategy', ['Bearer realm="Shop", error="invalid_token"', 401], 401],
  ['a challenge in place of an error', [new Error('jwt expired')], 401],
  ['the status of the strategy', ['Bearer error="invalid_request"', 400], 400],
  ['the status of the strategy alone', [403], 403],
  ['a challenge in place of one that no header can have', ['Bearer error="→"', 401], 401],
  ['401 in place of a status that is no refusal', [undefined, 200], 401],
])('answers rejected credentials with %s (#23)', async (_what, failure, status) => {
  const strategy = new HeaderStrategy((decisions) => decisions.fail(...(failure as [unknown, number?])));
  const { url } = await start({ auth: passport(strategy) });
  const [given] = failure as [unknown];
  const expected = /^Bearer [\w=", ]+$/.test(String(given)) ? given : 'Bearer error="invalid_token"';
  expect(await answerTo(url, TOKEN)).toMatchObject({ status, challenge: expected });
});

it.each(['x-api-key', 'X-API-Key'])(
  'rejects the wrong key of the header %s that is named, and asks for one if there is none (#23)',
  async (name) => {
    const strategy = new HeaderStrategy((decisions) => decisions.fail());
    const { url } = await start({ auth: passport(strategy, { credentialHeaders: [name] }) });
    expect(await answerTo(url, { 'x-api-key': 'wrong' })).toMatchObject({ challenge: 'Bearer error="invalid_token"' });
    expect(await answerTo(url, {})).toMatchObject({ status: 401, challenge: 'Bearer' });
  },
);

it.each([
  ['an error', (decisions: Decisions) => decisions.error(new Error('db=hunter2')), /hunter2/],
  ['an error that it throws', () => Promise.reject(new Error('db=hunter2')), /hunter2/],
  ['a redirect', (decisions: Decisions) => decisions.redirect('/login'), /sends the user to another page/],
  [
    'a user without an id, in a callback',
    (decisions: Decisions) => void setTimeout(() => decisions.success({ name: 'Ada' })),
    /`subject`, `sub`, `id`/,
  ],
  ['a user without an id', (decisions: Decisions) => decisions.success({ name: 'Ada' }), /`subject`, `sub`, `id`/],
])('masks %s of a strategy, and logs it (#23)', async (_what, decide, logged) => {
  const { url, errors } = await start({ auth: passport(new HeaderStrategy(decide)) });
  const { status, body } = await answerTo(url, TOKEN);
  expect(status).toBe(500);
  expect(body).not.toMatch(/hunter2|subject/);
  expect(errors.join()).toMatch(logged);
});

it('serves a request that is signed in only by middleware, or by nobody (#23)', async () => {
  const users = [{ id: 'u1' }, null, undefined];
  for (const [index, caller] of [{ subject: 'u1' }, 'nobody', 'nobody'].entries()) {
    const { url } = await start({ principal: 'request.user' }, (request) =>
      Object.assign(request, { user: users[index] }),
    );
    expect(await callerAt(url)).toEqual(caller);
  }
});

it('rejects what is not a strategy when it is declared (#23)', () => {
  for (const wrong of [HeaderStrategy, undefined, null, 'jwt'])
    expect(() => passport(wrong as object)).toThrow(/`strategy` must be an instance/);
});

it.each([
  ['an unknown option', { pricipal: () => ({ subject: 'a' }) }, /pricipal/],
  ['a principal that is no function', { principal: 'request.user' }, /`principal`/],
])('rejects %s when it is declared (#23)', (_what, options, problem) => {
  const strategy = new HeaderStrategy((decisions) => decisions.pass());
  expect(() => passport(strategy, options as object)).toThrow(problem);
});
