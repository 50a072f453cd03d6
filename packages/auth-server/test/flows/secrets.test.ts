// Servers whose DECORUM_SECRET changes while people sign in.
import type { RequestListener } from 'node:http';

import { expect, it } from '@jest/globals';
import { nodeHandler } from '@decorum/http/node';

import { MemoryStore } from '../../src/store/memory-store.js';
import { Browser } from './browser.js';
import { Client, PASSWORD } from './client.js';
import { closeAfterwards, createAuth, mcpServer, serve, type SiteOptions, stopClock } from './site.js';
import { SECRET, UpstreamSite } from './upstream-site.js';

stopClock();

const [OLD, NEW] = ['old', 'new'].map((name) => name.repeat(12)) as [string, string];

/** A site, and what restarts it with a new secret before the old one. */
async function restartable(options: SiteOptions = {}) {
  const store = new MemoryStore({}, { now: () => Date.now(), wait: async () => {} });
  let current: RequestListener | undefined;
  const wrap = (first: RequestListener): RequestListener => {
    current = first;
    return (request, response) => current?.(request, response);
  };
  const withSecret = (secret: string) => ({ ...options, store, platform: { env: { DECORUM_SECRET: secret } } });
  const site = await serve({ ...withSecret(OLD), wrap });
  const restart = () => {
    const server = mcpServer([]);
    closeAfterwards(() => server.close());
    const { auth } = createAuth(site.origin, withSecret(`${NEW},${OLD}`));
    current = nodeHandler(server, { auth, path: '/mcp' });
  };
  return { site, restart };
}

it('a form, a code and a refresh token stay valid with a new secret before the old one', async () => {
  const { site, restart } = await restartable();
  const client = await Client.register(site);
  const { refresh_token: token } = await client.connect();
  const [early, late] = [new Browser(), new Browser()];
  const consent = await client.signIn(late);
  const { verifier } = client;
  const signIn = await early.open(client.url());
  restart();
  const page = await early.submit(signIn, { 'User name': 'alice', Password: PASSWORD }, 'Sign in');
  expect(page.text).toContain('Allow access?');
  const { answer } = await late.submit(consent, {}, 'Allow');
  expect((await client.exchange(answer['code'] as string, { code_verifier: verifier })).status).toBe(200);
  expect((await client.refresh(token)).status).toBe(200);
});

it('a user who is at an upstream comes back to a server with a new secret before the old one', async () => {
  const upstream = await UpstreamSite.serve();
  const options = { issuer: upstream.issuer, clientId: 'decorum', clientSecret: SECRET, name: 'staff' };
  const { site, restart } = await restartable({ upstream: options });
  upstream.know(`${site.issuer}/upstream/callback`);
  const client = await Client.register(site);
  const browser = new Browser();
  const sent = await browser.submit(await browser.open(client.url()), {}, 'Allow');
  const back = (await new Browser().open(sent.redirect.href)).redirect.href;
  restart();
  expect((await browser.open(back)).answer['code']).toBeDefined();
});
