// The ways that a request can take through a server. A row that applies to all of them is tested in all of them.
import { expect } from '@jest/globals';
import type { Access, Interceptor, JsonObject, McpServer, McpServerOptions } from '@decorum/core';
import type { Plugin } from '@decorum/core/plugin';
import { NoInput } from '@decorum/core';

import { overHttp, transportsOf } from '../support/http-transports.js';
import { type Message, overMemory, RawClient, type RawOptions, type RawTransport } from '../support/raw-client.js';
import { type Revision, REVISIONS, STATELESS } from '../support/requirements.js';
import { bare } from './neutral.js';

/** The options that a way needs on the server. */
export interface Setting {
  readonly options: Partial<McpServerOptions>;
  /** Options of each member. */
  readonly guard: { readonly access?: Access };
}

/** Builds a server in a setting. */
export type Build = (setting: Setting) => McpServer;

/** A client that sends its requests in one way. */
export interface Way {
  readonly name: string;
  readonly client: RawClient;
  readonly server: McpServer;
  /** Whether each request has its own headers. */
  readonly isHttp: boolean;
  /** Sends a request and answers the questions of the server, until there is a response. */
  ask(method: string, params?: JsonObject): Promise<Message>;
  /** Sends a message in this way, without waiting for the response. */
  send(message: Message): Promise<void>;
  /** All cases for the first way, and a different part of the cases for each other way. */
  some<T>(cases: readonly T[]): readonly T[];
}

interface Route extends Partial<Setting> {
  readonly transports: readonly RawTransport[];
  /** Whether a member needs scopes, which makes the server judge every request. */
  readonly isJudged?: boolean;
  /** Wraps a message before it is sent. */
  wrap?(message: Message): object;
}

const watching: Plugin = { name: 'watching', observe: (_request, run) => run() };

const late: Plugin = {
  name: 'late',
  async observe(_request, run) {
    await Promise.resolve();
    return await run();
  },
};

const passing: Interceptor = async (_call, next) => await next();

const reporting: Interceptor = async ({ ctx }, next) => {
  ctx.progress(1);
  return await next();
};

/** Asks the client a question first, except in completions, which can't ask. */
const asking: Interceptor = async ({ kind, ctx }, next) => {
  if (kind !== 'completion') await ctx.roots();
  return await next();
};

const admit: Access = async () => await Promise.resolve(true);

let pings = 0;
const besidePing = (message: Message) => [{ jsonrpc: '2.0', id: `ping ${(pings += 1)}`, method: 'ping' }, message];
const withToken = (message: Message) => {
  const { params = {} } = message;
  return { ...message, params: { ...params, _meta: { progressToken: 'way', ...(params['_meta'] as JsonObject) } } };
};

function routesOf(revision: Revision): Record<string, Route> {
  return {
    observed: { transports: [overMemory], options: { plugins: [watching] } },
    'observed late': { transports: [overMemory], options: { plugins: [late] } },
    intercepted: { transports: [overMemory], options: { interceptors: [passing] } },
    'with late access': { transports: [overMemory], guard: { access: admit } },
    judged: { transports: [overMemory], guard: { access: admit }, isJudged: true },
    'after a question': { transports: [overMemory, overHttp], options: { interceptors: [asking] } },
    'on a stream': { transports: [overHttp], options: { interceptors: [reporting] }, wrap: withToken },
    ...(revision === '2025-03-26' && { 'in a batch': { transports: [overMemory, overHttp], wrap: besidePing } }),
  };
}

/** Each further way tests one in this many cases. */
const SHARE = 9;

interface Planned {
  readonly name: string;
  readonly transport: RawTransport;
  readonly route: Partial<Route>;
}

/** Connects one client for each way. */
export async function waysOf(revision: Revision, build: Build, more: Partial<RawOptions> = {}): Promise<Way[]> {
  const plain = Object.entries(transportsOf(revision)).map(([name, transport]) => ({ name, transport, route: {} }));
  const routed = Object.entries(routesOf(revision)).flatMap(([name, route]) =>
    route.transports.map((transport) => ({ name, transport, route })),
  );
  // routes hardly differ between revisions, so all revisions but two test only every other route
  const isWhole = revision === '2025-03-26' || revision === STATELESS;
  const taken = routed.filter((_route, index) => isWhole || (index + REVISIONS.indexOf(revision)) % 2 === 0);
  const answers = { 'roots/list': () => ({ result: { roots: [] } }), ...more.answers };
  const capabilities = { roots: {}, ...more.capabilities };
  return await Promise.all(
    [...plain, ...taken].map(async ({ name, transport, route }: Planned, at) => {
      const { options = {}, guard = {}, isJudged, wrap = (message: Message) => message } = route;
      const server = build({ options, guard });
      const hidden = { name: 'hidden', scopes: ['none'], access: () => false, input: NoInput };
      if (isJudged) server.addTool(hidden, () => '');
      const client = await RawClient.connect(server, { revision, ...more, answers, capabilities }, transport);
      const some = <T>(cases: readonly T[]) => cases.filter((_case, index) => at === 0 || index % SHARE === at % SHARE);
      const send = async (message: Message) => await client.send(wrap(message));
      return { name, client, server, isHttp: transport === overHttp, send, ask: askerOf(client, send), some };
    }),
  );
}

function askerOf(client: RawClient, send: Way['send']): Way['ask'] {
  let sent = 0;
  return async (method, params) => {
    let more: JsonObject = {};
    for (;;) {
      const id = `way ${(sent += 1)}`;
      await send(client.buildMessage(id, method, params && { ...params, ...more }));
      const message = await client.response(id);
      const { resultType, inputRequests = {}, requestState } = message.result ?? {};
      if (resultType !== 'input_required') return message;
      const keys = Object.keys(inputRequests as JsonObject);
      more = { inputResponses: Object.fromEntries(keys.map((key) => [key, { roots: [] }])), requestState };
    }
  };
}

/** A request and its response: an error code, an error, or a result without the fields that only some revisions add. */
export type Probe = readonly [method: string, params: JsonObject | undefined, response: number | object];

/**
 * Methods whose subject has its own header. A request without the subject is rejected because the header is missing.
 */
const SUBJECTS: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};
const HEADER_MISMATCH = -32020;

/** Checks that requests get the same responses in all ways. */
export async function answersAlike(ways: readonly Way[], probes: readonly Probe[]): Promise<void> {
  for (const { name, client, isHttp, ask, some } of ways) {
    for (const [method, params, response] of some(probes)) {
      const { result, error } = await ask(method, params);
      const subject = SUBJECTS[method];
      const lacksHeader = isHttp && client.stateless && subject && typeof params?.[subject] !== 'string';
      const expected = lacksHeader ? HEADER_MISMATCH : response;
      const failed = typeof expected === 'number' ? error?.code : error;
      expect([name, method, params, failed ?? bare(result ?? {})]).toEqual([name, method, params, expected]);
    }
  }
}
