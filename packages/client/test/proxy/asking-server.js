// A server in its own process, over stdio or over HTTP, whose tools ask the client and tell what reaches them.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import { McpError, McpServer, serveStdio } from '@decorum/core';
import { askClient } from '@decorum/core/plugin';
import { listen } from '@decorum/http';

const server = new McpServer({ name: 'asking', version: '1.0.0', providers: [] });
const text = (value) => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
});

const form = (message) => ({
  mode: 'form',
  message,
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
});
const ask = async (ctx, message, key) => {
  const { action, content } = await askClient(ctx, { method: 'elicitation/create', params: form(message), key });
  return content?.name ?? action;
};

const cancelled = [];
const begun = [];

const tools = {
  add: ({ a, b }) => text(a + b),
  ask: async ({ who }, ctx) => {
    await ctx.once('begin', () => void begun.push(who));
    return text(`${who}: ${await ask(ctx, `Name of ${who}?`)}`);
  },
  twice: async (_args, ctx) => text([await ask(ctx, 'First?'), await ask(ctx, 'Second?')]),
  both: async (_args, ctx) => text(await Promise.all([ask(ctx, 'Left?', 'left'), ask(ctx, 'Right?', 'right')])),
  sample: async (_args, ctx) => text((await ctx.sample({ messages: 'Hi', maxTokens: 5 })).text),
  visit: async (_args, ctx) => text(await ctx.elicitUrl({ message: 'Pay', url: 'https://pay.example.com/1' })),
  paid: async (_args, ctx) => {
    let visit = '';
    await ctx.elicitUrl({ message: 'Pay', url: ({ id }) => `https://pay.example.com/${(visit = id)}` });
    server.notify.elicitationCompleted(visit);
    return text(visit);
  },
  required: async (_args, ctx) => {
    if (begun.includes('sign-in')) return text('signed in');
    begun.push('sign-in');
    await ctx.requireUrl({ message: 'Sign in', url: 'https://login.example.com/1' });
    return text('signed in');
  },
  script: async (_args, ctx) => {
    const params = { mode: 'url', message: 'Open', url: 'javascript:alert(1)', elicitationId: '1' };
    return text(await askClient(ctx, { method: 'elicitation/create', params }));
  },
  wait: async ({ name, asks }, ctx) => {
    begun.push(name);
    if (asks) ask(ctx, 'Really?').catch(() => {});
    ctx.progress(1, 2, 'half');
    ctx.log.warning(`waiting for ${name}`);
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
    cancelled.push(name);
    return text('too late');
  },
  steps: async ({ ms, count }, ctx) => {
    for (let step = 1; step <= count; step += 1) {
      ctx.progress(step, count);
      await wait(ms);
    }
    return text('done');
  },
  state: () => text({ begun, cancelled, pid: process.pid }),
  seen: (_args, ctx) =>
    text({ headers: ctx.transport.headers, meta: ctx.meta, session: ctx.sessionId, client: ctx.client }),
  refuse: () => {
    throw new McpError(4711, 'Not today.', { until: 'Monday' });
  },
  large: ({ chars }) => text('x'.repeat(chars)),
  die: () => process.exit(1),
};

server.addMembers(
  Object.keys(tools).map((name) => ({
    kind: 'tool',
    key: name,
    entry: { name, description: name, inputSchema: { type: 'object' } },
  })),
  tools,
);
server.addMembers(
  [{ kind: 'resource', key: 'note', entry: { name: 'note', description: 'A note', uri: 'note://1' } }],
  {
    note: (uri) => ({ contents: [{ uri, text: randomUUID() }] }),
  },
);

if (process.argv.includes('--stdio')) serveStdio(server);
else {
  const { url } = await listen(server, { port: Number(process.env.PORT ?? 0) });
  process.stdout.write(`${url}\n`);
}
