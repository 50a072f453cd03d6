import { startupError } from '../protocol/errors.js';
import type { AddedOptions } from './check-options.js';
import { addCompletion } from './completion-plan.js';
import type { CompiledMembers } from './compiled-members.js';
import { duplicate } from './duplicate.js';
import { Following } from './following.js';
import { type Condition, conditionsOf, type Guards, isHidden } from './listing.js';
import { type Added, type ListName, put } from './added.js';
import { listsOf } from './lists.js';
import { type HiddenChanges, listChanges, listsWith } from './list-changes.js';
import type { Gate } from '../protocol/plugin-access.js';
import { type Gated, gatedAt, gatedPlan } from './gate.js';
import type { LiveMembers } from './live-members.js';
import { NamedPlans } from './named-plans.js';
import { type Member, memberOf, type Offered, type Plan, type Provider, tolerating } from './plan.js';
import { compilePrompt, type PromptPlan } from './prompt-plan.js';
import type { RelayedRecord } from '../metadata/records.js';
import { declaredMembers } from './policies/policies.js';
import { limitedLive, limitedPlan } from './policies/foreign-limits.js';
import { relayedPrompt, relayedResource, relayedTool } from './relayed.js';
import {
  compileResource,
  type ResourceDefaults,
  type ResourcePlan,
  type ResourceMatch,
  type TemplatePlan,
} from './resource-plan.js';
import { shapeOf } from './template-shape.js';
import { Tags } from './tags.js';
import type { AnyPlan } from './transformed.js';
import { Transforms } from './transforms.js';
import { compileTool, type ToolDefaults, type ToolPlan } from './tool-plan.js';

export type { HiddenChanges, ListName, ResourceMatch };

/** Whether lists contain all members that a caller may know of, or only those that the caller has the scopes for. */
export type ListingMode = 'all' | 'usable';

/** Server-wide defaults. */
interface Defaults extends Omit<ToolDefaults, 'extended'> {
  readonly listing?: ListingMode;
  readonly hiddenTags?: readonly string[];
  readonly gate?: Gate | undefined;
  readonly extended?: NonNullable<ToolDefaults['extended']> & ResourceDefaults & { readonly options: AddedOptions };
}

/** The plans of one server, by name or URI. */
export class Registry {
  readonly tools = new NamedPlans<ToolPlan>();
  readonly prompts = new NamedPlans<PromptPlan>();
  readonly resources = new NamedPlans<ResourcePlan>();
  readonly templates = new NamedPlans<TemplatePlan>();
  /** Everything that the server has offered so far. A list stays offered when its last entry is removed. */
  readonly offered = new Set<Offered>();
  /** A member that needs scopes, if there is one. */
  scoped: Plan<unknown> | undefined;
  /** Whether there is a public member. */
  hasPublic = false;
  /** Sources of members that depend on the caller. */
  live: readonly LiveMembers[] = [];
  /** The current lists. They are replaced on every change. */
  listed = listsOf(this, false);
  private ranked: readonly TemplatePlan[] = [];
  readonly tags: Tags;
  /** Serve the members elsewhere, too. If one of them throws, members are not added. */
  readonly following = new Following();

  /**
   * @param changed called with the lists that an addition or removal changed: those that changed for everybody, and
   *   the others
   * @param defaults server-wide defaults for tools, and the listing mode
   */
  constructor(
    readonly changed: (lists: readonly ListName[], hidden: HiddenChanges) => void,
    private readonly defaults: Defaults = {},
  ) {
    this.tags = new Tags(defaults.hiddenTags);
  }

  /**
   * Adds the decorated members of a class. All or nothing: if one member is invalid, none is added.
   * @returns a function that removes them. Call it once
   * @throws {DecorumError} `DECORUM_NO_MEMBERS`, or the error for the first mistake in the decorators
   */
  add(provider: Provider): () => void {
    const { records = declaredMembers(provider.cls), relayed } = provider;
    if (records.length === 0 && relayed === undefined)
      throw startupError('DECORUM_NO_MEMBERS', provider.cls.name || 'A class without a name');
    const { options } = this.defaults.extended ?? {};
    const members = records.map((record) => memberOf(provider, record, options));
    const transforms = new Transforms(provider, this.defaults.extended);
    const isSource = relayed !== undefined;
    return this.commit({ isSource, offers: provider.offers ?? [], transforms }, (added) => {
      for (const record of relayed ?? []) this.addRelayed(provider, record, added);
      // extensions of tools may look for resources
      for (const member of members) if (member.kind !== 'tool') this.addMember(member, added);
      for (const member of members) if (member.kind === 'tool') this.addMember(member, added);
      // completions come last, because they refer to other members
      for (const member of members) {
        if (member.kind === 'completion')
          tolerating(provider, () => addCompletion(member, added.completable, this.defaults));
      }
      transforms.requireAllKnown();
    });
  }

  /**
   * Adds members that are compiled already. All or nothing.
   * @param transforms what to change of them
   * @returns a function that removes them. Call it once
   * @throws {DecorumError} `DECORUM_DUPLICATE_NAME`
   */
  addCompiled({ tools, prompts, resources, live, offers }: CompiledMembers, transforms: Transforms): () => void {
    return this.commit({ isSource: true, offers, transforms }, (added) => {
      for (const plan of prompts) this.putPrompt(plan.key, limitedPlan(plan, this.defaults), added);
      for (const plan of resources) this.putResource(plan.key, limitedPlan(plan, this.defaults), added);
      for (const plan of tools) this.putTool(limitedPlan(plan, this.defaults), added);
      for (const source of live) this.putLive(source, added);
    });
  }

  /**
   * Adds a source of members that depend on the caller.
   * @returns a function that removes it. Call it once
   */
  addLive(source: LiveMembers, offers: CompiledMembers['offers'] = []): () => void {
    const transforms = new Transforms({ cls: Object, prefix: '', uriPrefix: '' }, undefined);
    return this.commit({ isSource: true, offers, transforms }, (added) => this.putLive(source, added));
  }

  private commit(
    { offers, ...given }: Pick<Added, 'isSource' | 'transforms'> & Pick<CompiledMembers, 'offers'>,
    fill: (added: Added) => void,
  ): () => void {
    const added: Added = { ...given, undo: [], plans: [], live: [], completable: new Map() };
    const rollBack = () => {
      for (const step of added.undo) step();
    };
    try {
      fill(added);
      const of = (list: ListName) => added.plans.filter((each) => each.list === list).map(({ plan }) => plan as never);
      const members = {
        tools: of('tools'),
        prompts: of('prompts'),
        resources: of('resources'),
        live: added.live,
        offers,
      };
      added.undo.push(this.following.add(members));
    } catch (error) {
      rollBack();
      throw error;
    }
    const lists = listsWith(added.live.flatMap(({ kinds }) => kinds));
    for (const each of [...added.plans.map(({ list }) => list), ...lists, ...offers]) this.offered.add(each);
    if ([...added.completable.values()].some(({ completions }) => completions.size > 0))
      this.offered.add('completions');
    this.publish(added.plans, lists);
    return () => {
      rollBack();
      this.publish(added.plans, lists);
    };
  }

  /** All members. */
  get all(): readonly AnyPlan[] {
    return [this.tools, this.prompts, this.resources, this.templates].flatMap((plans) => [...plans.values()]);
  }

  /** Whether a member is hidden from some callers. */
  hides(plan: Guards): boolean {
    return isHidden(plan, this.onlyUsable);
  }

  /** Makes tags a condition from now on, because a session hides some. Members with tags are replaced by guarded ones. */
  useTags(): void {
    if (this.tags.isUsed) return;
    this.tags.isUsed = true;
    this.tags.guardAll(this.tools);
    this.tags.guardAll(this.prompts);
    this.tags.guardAll(this.resources);
    this.tags.guardAll(this.templates);
    this.relist();
  }

  /** The conditions for seeing the resource with a URI: none if everybody may, or if nothing serves the URI. */
  conditionsOf(uri: string): readonly Condition[] {
    const isLive = this.live.length > 0 && this.match(uri) === undefined;
    const guards = isLive ? this.live.find((each) => each.owns(uri))?.guards(uri) : this.guardOf(uri);
    if (guards === undefined) return [];
    return conditionsOf(isLive ? this.guardedAt(uri, guards) : guards, this.onlyUsable);
  }

  /** Whether lists have only what the caller has the scopes for. */
  get onlyUsable(): boolean {
    return this.defaults.listing === 'usable';
  }

  /** Finds the plan for a URI: a fixed resource, or else the matching template with the most literal text. */
  match(uri: string): ResourceMatch | undefined {
    const fixed = this.resources.get(uri);
    if (fixed) return { plan: fixed, variables: {} };
    for (const plan of this.ranked) {
      const variables = plan.template.match(uri);
      if (variables) return { plan, variables };
    }
    return undefined;
  }

  /** Whether a template lists its resources dynamically. If so, the list of resources is rebuilt for each request. */
  get isEnumerated(): boolean {
    return this.listed.dynamic.all.length > 0;
  }

  /** The conditions for reading a URI: none if everybody may read it, or if nothing serves it. */
  guardOf(uri: string): (Guards & Pick<Plan<unknown>, 'isUnlisted'>) | undefined {
    if (!this.listed.isGuarded) return undefined;
    const { access, need, shown, onlyUsable, isUnlisted } = this.match(uri)?.plan ?? {};
    return { access, need, shown, onlyUsable, isUnlisted };
  }

  private addMember(member: Member, added: Added): void {
    const { key } = member;
    if (member.kind === 'tool') this.putTool(compileTool(member, this.defaults), added);
    else if (member.kind === 'prompt') this.putPrompt(key, compilePrompt(member, this.defaults), added);
    else if (member.kind === 'resource')
      this.putResource(key, compileResource(member, this.defaults.extended, this.defaults), added);
  }

  private addRelayed(provider: Provider, record: RelayedRecord, added: Added): void {
    const { key } = record;
    tolerating(provider, () => {
      const { defaults } = this;
      const limited = <P extends AnyPlan>(plan: P) => limitedPlan(plan, defaults);
      if (record.kind === 'tool') this.putTool(limited(relayedTool(provider, record, defaults.extended)), added);
      else if (record.kind === 'prompt') this.putPrompt(key, limited(relayedPrompt(provider, record)), added);
      else this.putResource(key, limited(relayedResource(provider, record)), added);
    });
  }

  /** A member with the conditions that its tags and plugins set. */
  guarded<P extends AnyPlan>(plan: P): P {
    return gatedPlan(this.tags.guarded(plan), this.defaults.gate);
  }

  /** The conditions for a resource of which only the URI is known, with those that its tags and plugins set. */
  guardedAt<G extends Gated>(uri: string, guards: G): G {
    return gatedAt(uri, this.tags.guarded(guards), this.defaults.gate);
  }

  /** A compiled member as it is served; undefined if the provider's transform hides it. */
  private servedOf<P extends AnyPlan>(compiled: P, { transforms }: Added): P | undefined {
    const plan = transforms.apply(compiled);
    return plan && this.guarded(plan);
  }

  private putTool(compiled: ToolPlan, added: Added): void {
    const plan = this.servedOf(compiled, added);
    if (plan) put('tool', this.tools, { plan, added });
  }

  private putPrompt(key: string, compiled: PromptPlan, added: Added): void {
    added.completable.set(key, compiled);
    const plan = this.servedOf(compiled, added);
    if (plan) put('prompt', this.prompts, { plan, added });
  }

  private putResource(key: string, compiled: ResourcePlan | TemplatePlan, added: Added): void {
    if ('template' in compiled) added.completable.set(key, compiled);
    const plan = this.servedOf(compiled, added);
    if (plan === undefined) return;
    if (!('template' in plan)) return put('resource', this.resources, { plan, added });
    const twin = [...this.templates.values()].find((other) => shapeOf(other.key) === shapeOf(plan.key));
    if (twin) throw duplicate('resource template', plan, { other: twin.where, isSource: added.isSource });
    put('resource template', this.templates, { plan, added });
  }

  private putLive(given: LiveMembers, { live, undo }: Added): void {
    const source = limitedLive(given, this.defaults);
    live.push(source);
    this.live = [...this.live, source];
    undo.push(() => (this.live = this.live.filter((each) => each !== source)));
  }

  private relist(): void {
    this.ranked = [...this.templates.values()].sort((a, b) => b.template.specificity - a.template.specificity);
    this.listed = listsOf(this, this.onlyUsable);
  }

  private publish(added: Added['plans'], entire: readonly ListName[]): void {
    // tags may be used only since they were added
    const changes = added.map(({ list, plan }) => ({ list, plan: this.tags.guarded(plan) }));
    this.relist();
    const { all } = this;
    this.scoped = all.find(({ need }) => need?.isPublic === false);
    this.hasPublic = all.some(({ need }) => need?.isPublic);
    this.changed(...listChanges(changes, entire, this.onlyUsable));
  }
}
