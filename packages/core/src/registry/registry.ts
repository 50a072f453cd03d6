import { scanMembers } from '../metadata/scan.js';
import { startupError } from '../protocol/errors.js';
import type { Resource } from '../protocol/model.js';
import type { Access } from '../protocol/wire.js';
import { addCompletion, type Completable } from './completion-plan.js';
import { type Admits, Listing } from './listing.js';
import type { Listed } from './page.js';
import { type Caller, type Member, memberOf, type Plan, type Provider } from './plan.js';
import { compilePrompt, type PromptPlan } from './prompt-plan.js';
import { compileResource, type Report, type ResourcePlan, type TemplatePlan, type Variables } from './resource-plan.js';
import { compileTool, type ToolDefaults, type ToolPlan } from './tool-plan.js';

/** The lists that clients can follow. */
export type ListName = 'tools' | 'prompts' | 'resources';

/** What was found for a URI. */
export interface ResourceMatch {
  readonly plan: ResourcePlan | TemplatePlan;
  readonly variables: Variables;
}

/** What one provider added, to be able to take it back. */
interface Added {
  readonly undo: (() => void)[];
  readonly lists: Set<ListName>;
  /** By member, for the completions of the same provider. */
  readonly completable: Map<string, Completable>;
}

/** Names, URIs and the plans behind them. One per server. */
export class Registry {
  readonly tools = new Map<string, ToolPlan>();
  readonly prompts = new Map<string, PromptPlan>();
  readonly resources = new Map<string, ResourcePlan>();
  readonly templates = new Map<string, TemplatePlan>();
  /** What there is to use. A list whose last entry is removed stays, empty. */
  readonly offered = new Set<ListName | 'completions'>();
  /** The lists as they are now: the same until something changes. */
  listed = this.writeLists();
  private ranked: readonly TemplatePlan[] = [];

  /**
   * @param changed called with the lists that an addition or removal changed
   * @param defaults what holds for tools that don't say it themselves
   */
  constructor(
    private readonly changed: (lists: ReadonlySet<ListName>) => void,
    private readonly defaults: ToolDefaults = {},
  ) {}

  /**
   * Adds the decorated members of a class. All or nothing: when one member is wrong, none is added.
   * @returns a function that removes them again
   * @throws {DecorumError} `DECORUM_NO_MEMBERS`, and for the first mistake in the annotations
   */
  add(provider: Provider): () => void {
    const records = provider.records ?? scanMembers(provider.cls);
    if (records.length === 0) throw startupError('DECORUM_NO_MEMBERS', provider.cls.name || 'A class without a name');
    const members = records.map((record) => memberOf(provider, record));
    const added: Added = { undo: [], lists: new Set(), completable: new Map() };
    const takeBack = () => {
      for (const step of added.undo) step();
    };
    try {
      for (const member of members) this.addMember(member, added);
      // when all that can be completed is there
      for (const member of members) if (member.kind === 'completion') addCompletion(member, added.completable);
    } catch (error) {
      takeBack();
      throw error;
    }
    for (const list of added.lists) this.offered.add(list);
    if (members.some(({ kind }) => kind === 'completion')) this.offered.add('completions');
    this.publish(added.lists);
    let present = true;
    return () => {
      if (!present) return;
      present = false;
      takeBack();
      this.publish(added.lists);
    };
  }

  /** Finds what serves a URI: a fixed resource, else the template with the most literal text, else nothing. */
  match(uri: string): ResourceMatch | undefined {
    const fixed = this.resources.get(uri);
    if (fixed) return { plan: fixed, variables: {} };
    for (const plan of this.ranked) {
      const variables = plan.template.match(uri);
      if (variables) return { plan, variables };
    }
    return undefined;
  }

  /** There are resources or templates that not everybody may see. */
  get restrictsResources(): boolean {
    return this.listed.resources.restricted || this.listed.templates.restricted;
  }

  /** Who may see what serves a URI; undefined where everybody may, and where nothing does. */
  accessTo(uri: string): Access | undefined {
    return this.restrictsResources ? this.match(uri)?.plan.access : undefined;
  }

  /** Whether a template enumerates what exists, so that the list of resources is made anew each time. */
  get isEnumerated(): boolean {
    return this.listed.dynamic.all.length > 0;
  }

  /** Everything there is to read: the fixed resources, and what the templates enumerate. */
  async enumerate(caller: Caller, admits: Admits, report: Report): Promise<readonly Listed<Resource>[]> {
    const { resources, dynamic } = this.listed;
    const templates = await dynamic.visible(admits);
    const found = await Promise.all(templates.map(async ({ list }) => (await list?.(caller, report)) ?? []));
    // what one template enumerates may be served by another member
    const enumerated = found.flat().map((entry) => ({ key: entry.uri, entry, access: this.accessTo(entry.uri) }));
    return await new Listing<Listed<Resource>>([...resources.all, ...enumerated]).visible(admits);
  }

  private addMember(member: Member, { undo, lists, completable }: Added): void {
    switch (member.kind) {
      case 'tool':
        undo.push(put('tool', this.tools, compileTool(member, this.defaults)));
        lists.add('tools');
        break;
      case 'prompt': {
        const plan = compilePrompt(member);
        undo.push(put('prompt', this.prompts, plan));
        lists.add('prompts');
        completable.set(member.key, plan);
        break;
      }
      case 'resource': {
        const plan = compileResource(member);
        lists.add('resources');
        if ('template' in plan) {
          const twin = [...this.templates.values()].find(({ key }) => shapeOf(key) === shapeOf(plan.key));
          if (twin) throw duplicate('resource template', plan, twin);
          undo.push(put('resource template', this.templates, plan));
          completable.set(member.key, plan);
        } else undo.push(put('resource', this.resources, plan));
      }
    }
  }

  private publish(lists: ReadonlySet<ListName>): void {
    this.ranked = [...this.templates.values()].sort((a, b) => b.template.specificity - a.template.specificity);
    this.listed = this.writeLists();
    this.changed(lists);
  }

  private writeLists() {
    const templates = [...this.templates.values()];
    return {
      tools: new Listing([...this.tools.values()]),
      prompts: new Listing([...this.prompts.values()]),
      resources: new Listing([...this.resources.values()]),
      templates: new Listing(templates),
      /** The templates that enumerate what exists. */
      dynamic: new Listing(templates.filter(({ list }) => list !== undefined)),
    };
  }
}

const duplicate = (kind: string, { key, where }: Plan<unknown>, other: Plan<unknown>) =>
  startupError('DECORUM_DUPLICATE_NAME', kind, key, [other.where, where]);

/** A template without the names of its variables, as far as they don't show in URIs: two alike match the same URIs. */
const shapeOf = (template: string): string =>
  template.replaceAll(/\{[^;?&{}][^{}]*\}/g, (expression) => expression.replaceAll(/[A-Za-z0-9_%][\w.%]*/g, 'x'));

/**
 * Adds a plan under its key.
 * @returns takes it out again
 */
function put<P extends Plan<unknown>>(kind: string, plans: Map<string, P>, plan: P): () => void {
  const { key } = plan;
  const other = plans.get(key);
  if (other) throw duplicate(kind, plan, other);
  plans.set(key, plan);
  return () => plans.delete(key);
}
