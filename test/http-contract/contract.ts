// The base of this suite: serves on each host, and registers tests for each host and revision.
import { once } from 'node:events';

import { describe } from '@jest/globals';
import {
  Completion,
  Context,
  type JsonObject,
  McpServer,
  type McpServerOptions,
  NoInput,
  Prompt,
  type ReachedLimit,
  Tool,
} from '@decorum/core';

import { afterwards, createServer, Probe } from '../../packages/http/test/fixture.js';
import { HttpClient } from '../support/http-client.js';
import {
  itShows,
  type Revision,
  REVISIONS,
  revisionsOf,
  SESSION_REVISIONS,
  type SessionRevision,
  STATELESS,
} from '../support/requirements.js';
import { BINDINGS, type Hosted, type HostOptions, HOSTS, type HttpHost } from './hosts.js';

/** One member of each kind, controlled by the test. */
export class Everything extends Probe {
  @Prompt({ name: 'pack', input: { type: 'object', properties: { city: { type: 'string' } } } })
  pack({ city }: { city: string }) {
    return `What do I need in ${city}?`;
  }

  @Completion({ for: 'pack', argument: 'city' })
  cities(value: string) {
    return ['Oslo', 'Odense', 'Paris'].filter((city) => city.startsWith(value));
  }

  @Tool({ description: 'Asks whether the client is there' })
  async reach(_input: NoInput, ctx: Context) {
    ctx.progress(1);
    await ctx.ping();
    return 'there';
  }

  @Tool({ description: 'Says what it knows of the caller' })
  who(_input: NoInput, { principal, transport }: Context) {
    return JSON.stringify({ principal, transport: { ...transport } });
  }
}

/** A server on a host, until the end of the test. */
export interface Served extends Hosted {
  readonly probe: Everything;
  readonly server: McpServer;
  /** Errors reported to the application. */
  readonly errors: unknown[];
  /** The limits that clients have reached. */
  readonly hits: ReachedLimit[];
}

/** Serves `Everything` over a host. */
export async function serveOn(
  host: HttpHost,
  options: HostOptions = {},
  serverOptions: Partial<McpServerOptions> = {},
): Promise<Served> {
  const probe = new Everything();
  const { server, errors, hits } = createServer(probe, serverOptions);
  const hosted = await host.serve(server, { closeDeadlineMs: 1000, ...options });
  afterwards(async () => {
    probe.emit('go');
    await hosted.close();
    await server.close();
  });
  return { ...hosted, probe, server, errors, hits };
}

/** Serves `Everything` over a host and connects a client of a revision. */
export async function connectTo(host: HttpHost, revision: Revision, options: HostOptions = {}) {
  const served = await serveOn(host, options);
  return { ...served, client: await HttpClient.open(served.url, revision) };
}

/** Registers tests once for each host. */
export function overEveryHost(subject: string, tests: (host: HttpHost) => void, hosts = HOSTS): void {
  describe.each(hosts)(`${subject} over $name`, (host) => {
    current = host;
    sentences = 0;
    tests(host);
    current = undefined;
  });
}

/** Registers tests once for each host that is ours: of rules that a server or framework around it can't change. */
export const overEveryBinding = (subject: string, tests: (host: HttpHost) => void): void =>
  overEveryHost(subject, tests, BINDINGS);

/** The host whose tests are being registered, and the number of its sentences so far. */
let current: HttpHost | undefined;
let sentences = 0;

/** Whether a sentence of this suite holds for a host. A host lists the sentences that don't, with reasons. */
export const holds = (host: HttpHost | undefined, sentence: string): boolean =>
  !Object.keys(host?.exceptions ?? {}).some((exception) => sentence.startsWith(exception));

type Test<R> = (revision: R) => void | Promise<void>;

/** The rows of the requirement table at the end of a sentence. */
const ROWS = /(?: \[[A-Z0-9]+-\d+\])+$/;

/**
 * Registers a test of a sentence that holds in each revision. Hosts and revisions are paired: `listen` shows the
 * sentence in each revision if it ends with rows of the requirement table, as in `… [HTTP-12]` or
 * `… [HTTP-19] [HTTP-20]`, and otherwise in the newest one with sessions and in the stateless one. Each other host shows
 * it in one revision, which differs from host to host and from sentence to sentence. The tests over `listen` cover the
 * rows, in the revisions that they apply to.
 */
function register<R extends Revision>(revisions: readonly R[], sentence: string, test: Test<R>): void {
  const plain = sentence.replace(ROWS, '');
  if (!holds(current, plain)) return;
  const rows = ROWS.exec(sentence)?.[0].match(/[A-Z0-9]+-\d+/g) ?? [];
  const index = current === undefined ? 0 : HOSTS.indexOf(current);
  const paired = (index + sentences++) % revisions.length;
  const newest = Math.min(revisions.length, SESSION_REVISIONS.length) - 1;
  const isShown = (at: number) => rows.length > 0 || at >= newest;
  for (const revision of revisions.filter((_, at) => (index === 0 ? isShown(at) : at === paired))) {
    const covered = index === 0 ? rows.filter((row) => revisionsOf(row, [revision]).length > 0) : [];
    const cells = covered.map((row) => [row, revision] as const);
    itShows(cells, cells.length > 0 ? plain : `${plain} (${revision})`, () => test(revision));
  }
}

/** Registers a sentence that holds in all revisions. */
export const inEveryRevision = (sentence: string, test: Test<Revision>): void => register(REVISIONS, sentence, test);

/** Registers a sentence that holds in the four session revisions. */
export const inEverySessionRevision = (sentence: string, test: Test<SessionRevision>): void =>
  register(SESSION_REVISIONS, sentence, test);

/** Registers a sentence of the stateless revision. */
export const inTheStatelessRevision = (sentence: string, test: Test<typeof STATELESS>): void =>
  register([STATELESS], sentence, test);

/** Registers a sentence of the revision with HTTP+SSE. */
export const inTheFirstRevision = (sentence: string, test: Test<SessionRevision>): void =>
  register([SESSION_REVISIONS[0]], sentence, test);

/** Registers a sentence for which the revision makes no difference. */
export const inAnyRevision = (sentence: string, test: () => void | Promise<void>): void => {
  if (holds(current, sentence)) itShows([], sentence, test);
};

/** Calls a tool that emits an event when it starts. Resolves when the tool has started. */
export async function begin(
  { client, probe }: { readonly client: HttpClient; readonly probe: Probe },
  id: string | number,
  name: string,
  options: Parameters<HttpClient['call']>[2] = {},
): Promise<{ readonly response: Promise<Response> }> {
  const began = once(probe, 'began');
  const response = client.call(id, name, { meta: { progressToken: id }, ...options });
  // the test handles the rejection when it awaits the response
  response.catch(() => {});
  await began;
  return { response };
}

/** The result of a released tool. */
export const LET_GO: JsonObject = { content: [{ type: 'text', text: 'let go' }] };
