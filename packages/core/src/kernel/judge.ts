import { andThen, isObject, isPromise, type JsonObject } from '@decorum/schema/internal';

import type { McpError } from '../protocol/errors.js';
import type { Exchange } from '../protocol/exchange.js';
import { MAX_KEPT_CHARS } from '../protocol/limits.js';
import { BASE, denialOf, type Need, OPEN } from '../protocol/scopes.js';
import type { Wire } from '../protocol/wire.js';
import type { Sought } from '../registry/live-members.js';
import type { Listed } from '../registry/page.js';
import type { Registry } from '../registry/registry.js';
import type { ToolPlan } from '../registry/tool-plan.js';
import { isAdmitted } from './admission.js';
import type { ExtensionMethod } from './extensions/extension.js';
import { findLive } from './live-members.js';
import type { KernelParts } from './methods/method.js';

type Guarded = Pick<Listed<unknown>, 'key' | 'access' | 'shown' | 'need'> & Pick<Partial<ToolPlan>, 'isFinder'>;

/** Finds the member that a request names. Undefined for names that the method itself rejects. */
type Find = (params: JsonObject, registry: Registry) => Guarded | undefined;

const ofUri: Find = ({ uri }, registry) =>
  typeof uri === 'string' && uri.length <= MAX_KEPT_CHARS ? registry.match(uri)?.plan : undefined;

const FIND = {
  tool: ({ name }, { tools }) => tools.find(name as string),
  prompt: ({ name }, { prompts }) => prompts.find(name as string),
  resource: ofUri,
  target({ ref }, registry) {
    if (!isObject(ref)) return undefined;
    if (ref['type'] === 'ref/prompt') return registry.prompts.find(ref['name'] as string);
    return registry.templates.get(ref['uri'] as string) ?? ofUri(ref, registry);
  },
} satisfies Record<string, Find>;

/** What a request names, for live sources. Undefined for names that the method itself rejects. */
function soughtIn({ name, uri, ref }: JsonObject, names: keyof typeof FIND): { kind: Sought; key: string } | undefined {
  if (names === 'target') {
    if (!isObject(ref)) return undefined;
    return ref['type'] === 'ref/prompt' ? soughtIn(ref, 'prompt') : soughtIn(ref, 'resource');
  }
  const key = names === 'resource' ? uri : name;
  return typeof key === 'string' && key.length <= MAX_KEPT_CHARS ? { kind: names, key } : undefined;
}

/** The registered member that a request names; undefined if there is none. */
export function targetOf({ method, params, revision }: Exchange, registry: Registry): Guarded | undefined {
  const names = revision.methods.get(method)?.names;
  return names === undefined || names === 'resources' ? undefined : FIND[names](params, registry);
}

/** The alias that a request names a tool or prompt by; undefined if it names its target otherwise. */
export function aliasOf({ method, params, revision }: Exchange, target: Guarded | undefined): string | undefined {
  const names = revision.methods.get(method)?.names;
  if (target === undefined || names === undefined || names === 'resources') return undefined;
  const sought = soughtIn(params, names);
  return sought === undefined || sought.kind === 'resource' || sought.key === target.key ? undefined : sought.key;
}

/** The denial of a request, if any, or a promise of it. */
export type Verdict = McpError | undefined | Promise<McpError | undefined>;

/** Decides, before any part of a request runs, whether its caller has the scopes that it needs. */
export class Judge {
  /** What the methods of extensions need. */
  private readonly extended: ReadonlyMap<string, ExtensionMethod['needs']>;

  constructor(private readonly parts: Pick<KernelParts, 'registry' | 'reporter' | 'limits' | 'extensions'>) {
    const methods = parts.extensions.flatMap((each) => Object.entries(each.methods ?? {}));
    this.extended = new Map(methods.map(([name, method]) => [name, 'needs' in method ? method.needs : undefined]));
  }

  /**
   * Judges a request. Members that `access` denies count as unknown.
   * @returns the denial, if any, or a promise of it if an access function returns a promise. Never rejects
   */
  verdict(exchange: Exchange): Verdict {
    return andThen(this.needsOf(exchange), (needs) => decide(exchange, needs));
  }

  /**
   * Judges the requests of a batch together. A batch without valid requests needs what listing members needs.
   * @param exchanges requests that came over this wire
   */
  verdictOnAll(exchanges: readonly Exchange[], wire: Wire): Verdict {
    const needs = exchanges.map((exchange) => this.needsOf(exchange));
    const settled = needs.some((each) => isPromise(each)) ? Promise.all(needs) : (needs as (readonly Need[])[]);
    return andThen(settled, (all) => {
      const [first] = exchanges;
      if (first === undefined) return denialOf(wire, [this.parts.registry.hasPublic ? OPEN : BASE]);
      const denial = decide(first, all.flat());
      for (const [index, exchange] of exchanges.entries()) exchange.require(all[index] as readonly Need[]);
      return denial;
    });
  }

  private needsOf(exchange: Exchange): readonly Need[] | Promise<readonly Need[]> {
    const { method, params, revision } = exchange;
    const { registry } = this.parts;
    const traits = revision.methods.get(method);
    // callers without credentials can connect and list, so they can find public members
    const extended = traits === undefined && revision.extensions ? this.extended.get(method) : undefined;
    const own = registry.hasPublic && (traits ?? extended === 'list') ? OPEN : BASE;
    const names = extended === 'read' ? 'resource' : traits?.names;
    if (names === 'resources') return this.needsOfListening(exchange, own);
    if (names === undefined) return [own];
    const found = FIND[names](params, registry) as Guarded | undefined;
    if (found?.isFinder) return [own];
    const needed = this.membersNeed(found, soughtIn(params, names), exchange);
    return andThen(needed, (need = BASE) => [need]);
  }

  /** URIs that the caller can't know about are ignored, so they need nothing. */
  private needsOfListening(exchange: Exchange, own: Need): readonly Need[] | Promise<readonly Need[]> {
    const { registry, limits } = this.parts;
    const { notifications } = exchange.params;
    const uris: unknown = isObject(notifications) ? notifications['resourceSubscriptions'] : undefined;
    if (!Array.isArray(uris) || uris.length > limits.maxSubscriptions) return [own];
    const needs = uris.map((uri: unknown) =>
      this.membersNeed(ofUri({ uri }, registry), soughtIn({ uri }, 'resource'), exchange),
    );
    return Promise.all(needs).then((found) => [own, ...found.filter((need) => need !== undefined)]);
  }

  /** The need of a member, of a provider or else of a live source. */
  private membersNeed(
    member: Guarded | undefined,
    sought: ReturnType<typeof soughtIn>,
    exchange: Exchange,
  ): Need | undefined | Promise<Need | undefined> {
    const found: Guarded | Promise<Guarded | undefined> | undefined =
      member ?? (sought && findLive(exchange, sought, this.parts));
    return andThen(found, (each) => this.needOf(each, exchange));
  }

  /** The need of a member; undefined if there is no member, or if `access` denies it. */
  private needOf(member: Guarded | undefined, exchange: Exchange): Need | undefined | Promise<Need | undefined> {
    if (member?.access === undefined) return member && (member.need ?? BASE);
    const { access, need = BASE } = member;
    return andThen(isAdmitted(access, exchange, this.parts.reporter), (admitted) => (admitted ? need : undefined));
  }
}

/** Records what a request needs, and returns the denial if the caller lacks it. */
function decide(exchange: Exchange, needs: readonly Need[]): McpError | undefined {
  const { wire } = exchange;
  exchange.require(needs);
  const denial = denialOf(wire, needs);
  if (denial === undefined) wire.admitted?.();
  return denial;
}

/** Runs a request once its access functions have answered. */
export async function runWhenAllowed(exchange: Exchange, verdict: Promise<McpError | undefined>): Promise<string> {
  const denial = await verdict;
  if (denial) throw denial;
  // the request was cancelled and answered in the meantime
  if (exchange.over) return '';
  exchange.peer.resume?.();
  return await exchange.handler(exchange);
}
