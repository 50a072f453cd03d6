import type { MemberRecord } from '../metadata/records.js';
import { scanMembers } from '../metadata/scan.js';
import type { Class } from '../metadata/store.js';
import { startupError } from '../protocol/errors.js';
import type { Prompt, Resource, ResourceTemplate, Tool } from '../protocol/model.js';
import type { Access } from '../protocol/wire.js';
import { type CompletionPlan, compileCompletion } from './completion-plan.js';
import { type Admits, Listing } from './listing.js';
import type { Listed } from './page.js';
import { type Caller, checkOptions, type Member } from './plan.js';
import { compilePrompt, type PromptPlan } from './prompt-plan.js';
import { compileResource, type Report, type ResourcePlan, type TemplatePlan, type Variables } from './resource-plan.js';
import type { SpokenText } from './results.js';
import { compileTool, type ToolPlan } from './tool-plan.js';

/** The lists that clients can follow. */
export type ListName = 'tools' | 'prompts' | 'resources';

/** A class whose members are served, with the object they are called on. */
export interface Provider {
  readonly cls: Class;
  readonly instance: object;
  /** Put before the names of its tools, prompts and resources. */
  readonly prefix: string;
  /** The members to serve; by default the decorated ones of the class. */
  readonly records?: readonly MemberRecord[];
}

/** What was found for a URI. */
export interface ResourceMatch {
  readonly plan: ResourcePlan | TemplatePlan;
  readonly variables: Variables;
}

type Completable = Pick<PromptPlan | TemplatePlan, 'variables' | 'where'>;

/** What one provider added, to be able to take it back. */
interface Added {
  readonly undo: (() => void)[];
  readonly lists: Set<ListName>;
  /** By member, for the completions of the same provider. */
  readonly completable: Map<string, Completable & { readonly target: object }>;
}

const NO_VARIABLES: Variables = Object.freeze({});

/** Names, URIs and the plans behind them. One per server. */
export class Registry {
  readonly tools = new Map<string, ToolPlan>();
  readonly prompts = new Map<string, PromptPlan>();
  readonly resources = new Map<string, ResourcePlan>();
  readonly templates = new Map<string, TemplatePlan>();
  /** What there is to use. A list whose last entry is removed stays, empty. */
  readonly offered = new Set<ListName | 'completions'>();
  private readonly completions = new Map<object, Map<string, CompletionPlan>>();
  private ranked: readonly TemplatePlan[] = [];
  /** Those that enumerate what exists. */
  private dynamic: readonly TemplatePlan[] = [];
  private lists = this.writeLists();

  /** @param changed called with the lists that an addition or removal changed */
  constructor(
    private readonly changed: (lists: ReadonlySet<ListName>) => void,
    /** What tools say beside structured content, where they do not say themselves. */
    private readonly text?: SpokenText,
  ) {}

  /**
   * Adds the decorated members of a class. All or nothing: when one member is wrong, none is added.
   * @returns a function that removes them again
   * @throws {DecorumError} `DECORUM_NO_MEMBERS`, and for the first mistake in the annotations
   */
  add(provider: Provider): () => void {
    const records = provider.records ?? scanMembers(provider.cls);
    if (records.length === 0) throw startupError('DECORUM_NO_MEMBERS', provider.cls.name);
    const added: Added = { undo: [], lists: new Set(), completable: new Map() };
    try {
      for (const record of records) if (record.kind !== 'completion') this.addMember(provider, record, added);
      for (const record of records)
        if (record.kind === 'completion') this.addCompletion({ ...provider, record }, added);
    } catch (error) {
      this.takeBack(added);
      throw error;
    }
    for (const list of added.lists) this.offered.add(list);
    this.publish(added);
    let present = true;
    return () => {
      if (!present) return;
      present = false;
      this.takeBack(added);
      this.publish(added);
    };
  }

  /** The lists as they are now: the same until something changes. */
  get listed(): ReturnType<Registry['writeLists']> {
    return this.lists;
  }

  /** Finds what serves a URI: a fixed resource, else the template with the most literal text, else nothing. */
  match(uri: string): ResourceMatch | undefined {
    const fixed = this.resources.get(uri);
    if (fixed) return { plan: fixed, variables: NO_VARIABLES };
    for (const plan of this.ranked) {
      const variables = plan.template.match(uri);
      if (variables) return { plan, variables };
    }
    return undefined;
  }

  /** There are resources or templates that not everybody may see. */
  get restrictsResources(): boolean {
    return this.lists.resources.restricted || this.lists.templates.restricted;
  }

  /** Who may see what serves a URI; undefined where everybody may, and where nothing does. */
  accessTo(uri: string): Access | undefined {
    return this.restrictsResources ? this.match(uri)?.plan.access : undefined;
  }

  /** Whether a template enumerates what exists, so that the list of resources is made anew each time. */
  get isEnumerated(): boolean {
    return this.dynamic.length > 0;
  }

  /** Everything there is to read: the fixed resources, and what the templates enumerate. */
  async enumerate(caller: Caller, admits: Admits, report: Report): Promise<readonly Listed<Resource>[]> {
    const { dynamic } = this;
    const fixed = await this.lists.resources.visible(admits);
    const found = await Promise.all(
      dynamic.map(async ({ list, access }) =>
        access === undefined || (await admits(access)) ? ((await list?.(caller, report)) ?? []) : [],
      ),
    );
    // what one template enumerates may be served by another member
    const listing = new Listing(
      found.flat().map((entry) => ({ key: entry.uri, entry, access: this.accessTo(entry.uri) })),
    );
    return [...fixed, ...(await listing.visible(admits))];
  }

  /** The completion of one argument of a prompt or template. */
  completion(target: object, argument: string): CompletionPlan | undefined {
    return this.completions.get(target)?.get(argument);
  }

  private addMember(provider: Provider, record: MemberRecord, added: Added): void {
    checkOptions({ ...provider, record });
    switch (record.kind) {
      case 'tool': {
        const plan = compileTool({ ...provider, record }, this.text);
        this.put({ kind: 'tool', map: this.tools, key: plan.name, plan }, added);
        added.lists.add('tools');
        break;
      }
      case 'prompt': {
        const plan = compilePrompt({ ...provider, record });
        this.put({ kind: 'prompt', map: this.prompts, key: plan.name, plan }, added);
        added.lists.add('prompts');
        added.completable.set(record.key, { ...plan, target: plan });
        break;
      }
      case 'resource':
        this.addResource({ ...provider, record }, added);
    }
  }

  private addResource(member: Member<'resource'>, added: Added): void {
    const plan = compileResource(member);
    added.lists.add('resources');
    if ('template' in plan) {
      this.put({ kind: 'resource template', map: this.templates, key: plan.entry.uriTemplate, plan }, added);
      added.completable.set(member.record.key, { ...plan, target: plan });
    } else this.put({ kind: 'resource', map: this.resources, key: plan.entry.uri, plan }, added);
  }

  private put<P extends { where: string }>(
    { kind, map, key, plan }: { kind: string; map: Map<string, P>; key: string; plan: P },
    added: Added,
  ): void {
    const other = map.get(key);
    if (other) throw startupError('DECORUM_DUPLICATE_NAME', kind, key, [other.where, plan.where]);
    map.set(key, plan);
    added.undo.push(() => map.delete(key));
  }

  private addCompletion(member: Member<'completion'>, added: Added): void {
    checkOptions(member);
    const plan = compileCompletion(member);
    if (plan.targets.length === 0) {
      throw startupError('DECORUM_DANGLING_COMPLETION', plan.where, '', added.completable.keys());
    }
    for (const key of plan.targets) {
      const found = added.completable.get(key);
      if (!found) throw startupError('DECORUM_DANGLING_COMPLETION', plan.where, key, added.completable.keys());
      if (!found.variables.includes(plan.argument)) {
        throw startupError('DECORUM_UNKNOWN_ARGUMENT', plan.where, plan.argument, found.variables);
      }
      const byArgument = this.completions.get(found.target) ?? new Map<string, CompletionPlan>();
      if (byArgument.has(plan.argument)) {
        throw startupError('DECORUM_DUPLICATE_COMPLETION', plan.where, plan.argument, found.where);
      }
      this.completions.set(found.target, byArgument.set(plan.argument, plan));
      this.offered.add('completions');
      added.undo.push(() => this.completions.delete(found.target));
    }
  }

  private takeBack({ undo }: Added): void {
    for (const step of undo.reverse()) step();
  }

  private publish({ lists }: Added): void {
    this.ranked = [...this.templates.values()].sort((a, b) => b.template.specificity - a.template.specificity);
    this.dynamic = [...this.templates.values()].filter(({ list }) => list !== undefined);
    this.lists = this.writeLists();
    this.changed(lists);
  }

  private writeLists() {
    return {
      tools: listOf<Tool>(this.tools),
      prompts: listOf<Prompt>(this.prompts),
      resources: listOf<Resource>(this.resources),
      templates: listOf<ResourceTemplate>(this.templates),
    };
  }
}

function listOf<T>(plans: ReadonlyMap<string, Pick<ToolPlan, 'access'> & { readonly entry: T }>): Listing<T> {
  return new Listing([...plans].map(([key, { entry, access }]) => ({ key, entry, access })));
}
