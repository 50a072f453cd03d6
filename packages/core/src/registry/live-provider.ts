import { isObject } from '@decorum/schema/internal';

import type { MemberRecord, RelayedRecord } from '../metadata/records.js';
import type { Prompt, Resource, ResourceTemplate, Tool } from '../protocol/model.js';
import { addCompletion } from './completion-plan.js';
import { isServedBy, type LiveKind, type LiveMembers, listedAs, type Sought } from './live-members.js';
import { memberOf, type Provider } from './plan.js';
import { originalUri } from './placed-uri.js';
import { relayedPrompt, relayedResource, relayedTool } from './relayed.js';
import { parsedTemplate } from './resource-plan.js';
import { type AnyPlan } from './transformed.js';
import { Transforms } from './transforms.js';

/** A member of a live source. */
export interface Live {
  readonly entry: Tool | Prompt | Resource | ResourceTemplate;
  run(input: unknown, context: object): object;
  complete?(argument: string, value: string, context: object): unknown;
}

/** A source of members that depend on the caller. */
export interface Lives {
  readonly kinds: readonly LiveKind[];
  list(kind: LiveKind, context: object): readonly Live[] | Promise<readonly Live[]>;
  find(kind: Sought, key: string, context: object): Live | undefined | Promise<Live | undefined>;
}

/** What a live source needs of its server. */
export interface LiveParts {
  readonly provider: Provider;
  readonly source: Lives;
  /** Lets the server's framework run a member. */
  host(provider: Provider): Provider;
  /** Reports an entry that clients would reject. */
  report(error: Error): void;
}

/** The key of the handlers of members. */
const RUN = 'run';

/** A live source at its place in a server. */
export class LiveProvider implements LiveMembers {
  /** The members that were compiled, or undefined for those that are invalid or hidden. */
  private readonly plans = new WeakMap<Live, AnyPlan | undefined>();
  private readonly transforms: Transforms;

  constructor(private readonly parts: LiveParts) {
    this.transforms = new Transforms(parts.provider, undefined);
  }

  get kinds(): readonly LiveKind[] {
    return this.parts.source.kinds;
  }

  /** Its own name or URI for one that clients use; undefined for those that can't be of this source. */
  private ownKey(kind: LiveKind, key: string): string | undefined {
    const { provider } = this.parts;
    if (kind === 'resource' || kind === 'template') return originalUri(key, provider);
    return key.startsWith(provider.prefix) ? key.slice(provider.prefix.length) : undefined;
  }

  owns(uri: string): boolean {
    return this.ownKey('resource', uri) !== undefined;
  }

  guards(): ReturnType<LiveMembers['guards']> {
    const { access, scopes = [], tags } = this.parts.provider;
    return { access, need: { scopes, isPublic: false }, tags };
  }

  readonly list = async (kind: LiveKind, context: object): Promise<readonly AnyPlan[]> => {
    const { source, provider } = this.parts;
    const members = await source.list(kind, context);
    if (!Array.isArray(members)) throw new Error(`${provider.cls.name}: \`list\` did not return an array of members.`);
    return members.flatMap((member: Live) => this.planOf(kind, member) ?? []);
  };

  async find(kind: Sought, key: string, context: object): Promise<AnyPlan | undefined> {
    const { source, provider } = this.parts;
    const own = this.ownKey(kind, key);
    if (own === undefined) return undefined;
    const member = await source.find(kind, own, context);
    const plan = member && this.planOf(kind, member);
    if (plan && isServedBy(plan, key)) return plan;
    // it may have another name there
    return provider.transform && (await listedAs(this, { kind, key }, context));
  }

  private planOf(kind: LiveKind, member: Live): AnyPlan | undefined {
    if (this.plans.has(member)) return this.plans.get(member);
    let plan: AnyPlan | undefined;
    try {
      plan = this.transforms.apply(this.compile(kind, member));
    } catch (error) {
      this.parts.report(error as Error);
    }
    this.plans.set(member, plan);
    return plan;
  }

  private compile(kind: LiveKind, member: Live): AnyPlan {
    const { entry } = member;
    const { provider: own, host } = this.parts;
    const record = { kind: kind === 'template' ? 'resource' : kind, key: RUN, entry } as RelayedRecord;
    const completes = member.complete === undefined ? [] : argumentsOf(record, own.cls.name);
    const completions = completes.map((argument): MemberRecord<'completion'> => ({
      kind: 'completion',
      key: `complete ${argument}`,
      options: { for: RUN, argument },
    }));
    const handlers = completes.map((argument) => [
      `complete ${argument}`,
      (value: string, context: object) => member.complete?.(argument, value, context),
    ]);
    const instance = {
      [RUN]: (input: unknown, context: object) => member.run(input, context),
      ...(Object.fromEntries(handlers) as object),
    };
    const provider = host({ ...own, instance, records: completions, relayed: [record] });
    if (record.kind === 'tool') return relayedTool(provider, record, undefined);
    const plan = record.kind === 'prompt' ? relayedPrompt(provider, record) : relayedResource(provider, record);
    if (!('completions' in plan)) return plan;
    for (const each of completions) {
      const completion = memberOf(provider, each);
      if (completion.kind === 'completion') addCompletion(completion, new Map([[RUN, plan]]));
    }
    return plan;
  }
}

/** The arguments of a prompt, or the variables of a template. */
function argumentsOf({ entry }: RelayedRecord, where: string): readonly string[] {
  if (!isObject(entry)) return [];
  if (typeof entry['uriTemplate'] === 'string') return parsedTemplate(entry['uriTemplate'], where).variables;
  const { arguments: args } = entry as Partial<Prompt>;
  return [...new Set(args?.map(({ name }) => name))];
}
