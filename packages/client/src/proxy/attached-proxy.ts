// a test may have replaced the global timers
import { clearTimeout, setTimeout } from 'node:timers';

import type { McpServer, ResourceTemplateEntry } from '@decorum/core';
import type { AddMembersOptions } from '@decorum/core/plugin';
import { type Host, hostOf } from '@decorum/core/transport';

import type { ConnectTarget } from '../target.js';
import { FollowedResources } from './followed-resources.js';
import { addingOptions, nameOf, type ProxyOptions, type Taken, upstreamOptions } from './proxy-options.js';
import { CallerLists } from './caller-lists.js';
import { Relay } from './relay.js';
import { completes, sentence, SharedLists } from './shared-lists.js';
import { UnlistedResources } from './unlisted-resources.js';
import { Uris } from './uris.js';
import { type UpstreamEvent, Upstreams } from './upstream/upstreams.js';

/** Milliseconds that a server waits for the lists of its upstream before it starts without them. */
const START_MS = 5000;

/** What a proxy is made of. */
export interface ProxyParts {
  readonly server: McpServer;
  /** What errors and logs call the proxy. */
  readonly where: string;
  readonly target: ConnectTarget;
  readonly options: ProxyOptions;
  readonly taken: Taken;
}

/** A proxy that has been added to a server. */
export class AttachedProxy {
  private readonly upstreams: Upstreams;
  private readonly lists: SharedLists;
  private readonly followed: FollowedResources;
  /** Whether each caller has lists of its own. */
  private readonly isPersonal: boolean;
  private isDown = false;
  private isClosed = false;
  /** Called once the lists have been read for the first time. */
  private ready = () => {};

  constructor(private readonly parts: ProxyParts) {
    const { server, where, target, options, taken } = parts;
    this.upstreams = new Upstreams(upstreamOptions(target, options));
    const { prefix = '', uriPrefix = prefix, filter = {} } = options;
    const place = { uriPrefix: '', uriSegment: uriPrefix === '' ? undefined : uriPrefix };
    const uris = new Uris(place, (uri) => this.lists.hasResource(uri));
    const relay = new Relay(this.upstreams, uris, nameOf(options));
    const adding = addingOptions(where, options);
    const warn = (problem: string) => this.warn(problem);
    this.lists = new SharedLists({ server, relay, taken, adding, pin: options.pin, warn });
    this.followed = new FollowedResources({
      uris,
      updated: (uri) => server.notify.resourceUpdated(uri),
      listsChanged: () => this.lists.changed(),
    });
    // finds mistakes in the options, before there are members
    server.addMembers([], {}, adding);
    const readsUnlisted = filter.resources === undefined && filter.templates === undefined;
    this.isPersonal = options.lists === 'caller';
    if (this.isPersonal) {
      const { upstreams } = this;
      server.addLive(new CallerLists({ upstreams, relay, taken, readsUnlisted, warn }), adding);
    } else if (readsUnlisted) {
      server.addLive(new UnlistedResources(relay, () => this.lists.catalog, hiding(adding.transform)), adding);
    }
    this.host.follow({
      follow: async (uri) => await this.followed.follow(uri),
      review: (isFollowed) => this.followed.review(isFollowed),
    });
    if (options.instructions === true) this.host.instruct(() => this.instructions);
    this.upstreams.onEvent((event) => this.happened(event));
  }

  /** Connects. The server starts without the upstream if that takes too long, or fails. */
  async start(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.warn(`has not answered within ${START_MS} ms, and the server starts without it`);
        resolve();
      }, START_MS).unref();
      this.ready = () => {
        clearTimeout(timer);
        resolve();
      };
      this.upstreams.own().catch((error: unknown) => {
        this.down(`is not available: ${sentence(error)}`);
        this.ready();
      });
    });
    const { server, where, options } = this.parts;
    const offers = offersOf(options).filter((offered) => this.offered?.has(offered) ?? true);
    server.addMembers([], {}, { source: where, offers });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.lists.closed({ isEmptied: false });
    this.followed.closed();
    await this.upstreams.close();
  }

  private instructions: string | undefined;
  /** What the upstream has declared; undefined until it has. */
  private offered: ReadonlySet<string> | undefined;

  private get host() {
    return hostOf(this.parts.server as Host);
  }

  private happened(event: UpstreamEvent): void {
    const { server, options } = this.parts;
    if (event.kind === 'elicitation-complete') server.notify.elicitationCompleted(event.elicitationId);
    else if (event.kind === 'down') {
      this.down('is not available any more');
      this.lists.closed({ isEmptied: options.whenDown === 'empty' });
      this.followed.closed();
    } else if (event.kind === 'up') {
      const { client } = event;
      if (this.isDown) this.warn('is available again');
      this.isDown = false;
      this.instructions = client.instructions;
      const declared = Object.keys(client.capabilities);
      this.offered = new Set(completes(client) ? [...declared, 'completions'] : declared);
      // an upstream may take its time to acknowledge that it will tell of changes
      void this.followed.opened(client);
      const reading = this.isPersonal ? Promise.resolve() : this.lists.opened(client);
      void reading.then(() => this.ready());
    }
  }

  private down(problem: string): void {
    if (!this.isDown && !this.isClosed) this.warn(problem);
    this.isDown = true;
  }

  private warn(problem: string): void {
    this.host.warn(`${this.parts.where} ${problem}.`);
  }
}

/** Whether a transform hides a template. */
const hiding =
  (transform: AddMembersOptions['transform']) =>
  (entry: ResourceTemplateEntry): boolean =>
    typeof transform === 'function' && transform({ kind: 'template', name: entry.uriTemplate, entry }) === false;

/** What may be declared to clients: all that the filter leaves. */
function offersOf({ filter = {} }: ProxyOptions) {
  const isNothing = (names: unknown) => Array.isArray(names) && names.length === 0;
  const { tools, prompts, resources, templates } = filter;
  const hasResources = !isNothing(resources) || !isNothing(templates);
  const isCompleted = !isNothing(prompts) || !isNothing(templates);
  return [
    ...(isNothing(tools) ? [] : (['tools'] as const)),
    ...(isNothing(prompts) ? [] : (['prompts'] as const)),
    ...(hasResources ? (['resources'] as const) : []),
    ...(isCompleted ? (['completions'] as const) : []),
  ];
}
