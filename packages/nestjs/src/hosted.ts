import type { Access, CompletionContext, Context, JsonObject, MemberHost, UncheckedInput } from '@decorum/core';
import type { ApplicationConfig, ExternalContextCreator } from '@nestjs/core';

import { startupError } from './errors.js';
import type { Target } from './discovery.js';
import { hasGuards, requireEnhancers, requireVariant } from './enhancers.js';
import { httpException, PASSED, publicError } from './exceptions.js';
import { McpExecutionContext, type McpMember } from './execution-context.js';
import { type HostedMember, idOf, publicPart, withPlanners } from './hosted-member.js';
import { decoratedParameters, requirePlainList } from './parameters.js';
import { createHandler, type Handler } from './pipeline.js';
import { INERT_RESPONSE, requestFor } from './request.js';
import { createScoped, isScoped } from './scope.js';

type AnyContext = Context | CompletionContext;
type Methods = Readonly<Record<PropertyKey, unknown>>;

/** The parts of the application that calls need. */
export interface Nest {
  readonly creator: ExternalContextCreator;
  readonly config: ApplicationConfig;
}

/** Passed to members in place of their input. Completions get the text. */
export interface HostedInput extends Omit<UncheckedInput, 'kind'> {
  readonly kind: McpMember['kind'];
}

/** The members of a provider, and the application that runs them. */
export interface HostedParts {
  readonly target: Target;
  readonly nest: Nest;
  readonly members: readonly HostedMember[];
  /** Whether guards also decide which members lists show. */
  readonly hidesGuarded: boolean;
  /** Whether the endpoint finds out who calls, before guards run. */
  readonly knowsCallers: boolean;
}

const noop = () => {};

/** Methods that the server calls when it starts and closes. */
const HOOKS: ReadonlySet<string | symbol> = new Set(['onStart', 'onClose']);

/** A provider whose methods run inside Nest's guards, interceptors, pipes and filters. */
export class HostedProvider implements MemberHost {
  /** The object that the server calls in place of the instance. */
  readonly instance: object;
  readonly shown?: NonNullable<MemberHost['shown']>;
  private readonly target: Target;
  private readonly nest: Nest;
  private readonly members: ReadonlyMap<string, HostedMember>;
  private isPrepared = false;
  private isScoped = false;
  /** The handlers, if all calls share one instance. */
  private readonly handlers = new Map<HostedMember, Handler>();
  /** The handlers that only run guards, such as for lists. */
  private readonly guards = new Map<HostedMember, Handler>();

  constructor(private readonly parts: HostedParts) {
    this.target = parts.target;
    this.nest = parts.nest;
    this.members = new Map(withPlanners(parts.members).map((member) => [idOf(member), member]));
    if (parts.hidesGuarded) this.shown = (key, kind) => this.access(key, kind);
    this.instance = new Proxy(Object.create(this.target.cls.prototype as object) as object, {
      get: (of, key) => this.property(of, key),
    });
  }

  /** @throws {DecorumError} `DECORUM_INVALID_PARAMETER` for a decorator that has no value in a call over MCP */
  provides(key: string): readonly number[] {
    return decoratedParameters(this.target.cls, key);
  }

  /**
   * Finds the enhancers of all members. Call it once the application has created them.
   * @throws {DecorumError} `DECORUM_UNBOUND_ENHANCER`, `DECORUM_INVALID_PARAMETER`
   */
  prepare(): void {
    const { target, nest } = this;
    this.isScoped = isScoped(target, nest.config);
    for (const { key, list, memoize, preview } of this.members.values()) {
      requireEnhancers(target, key, { list, preview });
      if (!this.parts.knowsCallers && hasGuards(target, key, nest.config)) requireVariant(target, key, memoize);
      requirePlainList(target.cls, list);
    }
    if (!this.isScoped) this.createHandlers(target.wrapper.instance as object);
    this.isPrepared = true;
  }

  /** Creates all handlers at startup, so that mistakes show early. */
  private createHandlers(instance: object): void {
    for (const member of this.members.values()) {
      const { kind, calls, key: own } = member;
      const key = calls ?? own;
      if (typeof (instance as Methods)[key] !== 'function') {
        // otherwise skipped, because the server rejects the provider
        if (instance instanceof this.target.cls) continue;
        const { name } = this.target.cls;
        const remedy = `Add it to what stands in for ${name}, such as the mock`;
        throw startupError('DECORUM_NOT_A_METHOD', `${name}.${key}`, kind, remedy);
      }
      this.handlers.set(member, createHandler(this.nest.creator, this.target, { ...member, instance }));
    }
  }

  private property(prototype: object, key: string | symbol): unknown {
    // there is no instance yet; Nest skips its own hooks too
    if (this.isScoped && HOOKS.has(key)) return undefined;
    const source = this.isScoped ? prototype : (this.target.wrapper.instance as object);
    const value: unknown = Reflect.get(source, key);
    if (typeof value !== 'function') return value;
    const members = [...this.members.values()];
    if (members.some((member) => member.key === key)) {
      return async (input: HostedInput | string, context: AnyContext) => {
        const kind = typeof input === 'string' ? 'completion' : input.kind;
        return await this.call(this.member({ kind, key: String(key) }), input, context);
      };
    }
    if (key === 'constructor') return this.target.cls;
    const templates = members.filter(({ list }) => list === key);
    return async (...args: unknown[]) => {
      if (!(await this.mayList(templates, args))) return [];
      return await this.callPlain(key, args);
    };
  }

  /** Whether the guards of templates let the caller list their resources. */
  private async mayList(templates: readonly HostedMember[], [context]: readonly unknown[]): Promise<boolean> {
    // with `hidesGuarded`, the guards have already run
    if (this.parts.hidesGuarded) return true;
    const answers = templates.map(async (member) => await this.passes(member, context as Context));
    return (await Promise.all(answers)).every(Boolean);
  }

  /** Calls a method that isn't a member: a hook, or a method that lists resources. */
  private async callPlain(key: string | symbol, args: unknown[]): Promise<unknown> {
    const context = args.find(
      (argument): argument is Context => typeof argument === 'object' && argument !== null && 'transport' in argument,
    );
    let instance: object = this.target.wrapper.instance as object;
    if (this.isScoped && context) {
      const request = requestFor(context.transport, context.principal);
      ({ instance } = await createScoped(this.target, request, this.nest.creator));
    }
    return (instance as Record<PropertyKey, (...given: unknown[]) => unknown>)[key]?.(...args);
  }

  /** Makes a plan, inside of what runs around the tool. */
  async preview({ key, by }: { readonly key: string; readonly by: string }, input: UncheckedInput, context: Context) {
    return await this.call(this.member({ kind: 'tool', key, calls: by }), { ...input, kind: 'tool' }, context);
  }

  private member(id: Parameters<typeof idOf>[0]): HostedMember {
    return this.members.get(idOf(id)) as HostedMember;
  }

  private async call(member: HostedMember, input: HostedInput | string, context: AnyContext): Promise<unknown> {
    const isText = typeof input === 'string';
    let isAdmitted = false;
    const check = () => {
      // the client may have gone while a guard or interceptor was waiting
      context.signal.throwIfAborted();
      return isText ? input : input.check();
    };
    const admit = () => {
      // or while a rule or pipe was waiting
      context.signal.throwIfAborted();
      isAdmitted = true;
    };
    const args = isText ? { [member.name]: input } : input.args;
    const call = new McpExecutionContext({ member: publicPart(member), arguments: args, context, check, admit });
    const running = this.run(member, requestFor(context.transport, context.principal), call);
    try {
      return await unlessAborted(running, context.signal, () => isAdmitted);
    } catch (error) {
      throw publicError(error, member.kind);
    }
  }

  private async run(member: HostedMember, request: object, call: McpExecutionContext): Promise<unknown> {
    this.requirePrepared();
    const handler = this.handlers.get(member) ?? (await this.scopedHandler(member, request));
    const result = await handler(request, INERT_RESPONSE, noop, call);
    if (result !== INERT_RESPONSE) return result;
    const where = `${this.target.cls.name}.${member.key}`;
    throw new Error(`${where}, or an interceptor of it, returned the HTTP response. Return the result itself.`);
  }

  private async scopedHandler(member: HostedMember, request: object, guardsOnly = false): Promise<Handler> {
    const { creator } = this.nest;
    const scoped = await createScoped(this.target, request, creator);
    return createHandler(creator, this.target, { ...member, ...scoped, guardsOnly });
  }

  /** The handler that only runs the guards of a member. Interceptors don't run, because nothing is called. */
  private async guardsOf(member: HostedMember, request: object): Promise<Handler> {
    if (this.isScoped) return await this.scopedHandler(member, request, true);
    const found = this.guards.get(member);
    if (found) return found;
    const instance = this.target.wrapper.instance as object;
    const made = createHandler(this.nest.creator, this.target, { ...member, instance, guardsOnly: true });
    this.guards.set(member, made);
    return made;
  }

  /** Lets those have a kept result whom the guards would let call the member with these arguments. */
  async admits({ key, kind }: { readonly key: string; readonly kind: string }, args: JsonObject, context: AnyContext) {
    return await this.passes(this.member({ kind: kind as McpMember['kind'], key }), context, args);
  }

  private access(key: string, kind: string): Access {
    const member = this.member({ kind: kind as McpMember['kind'], key });
    return async (principal, transport) => await this.passes(member, { principal, transport });
  }

  /** Runs the guards of a member without calling the member. */
  private async passes(
    member: HostedMember,
    caller: AnyContext | Pick<Context, 'principal' | 'transport'>,
    args?: JsonObject,
  ): Promise<boolean> {
    this.requirePrepared();
    const check = () => {
      throw PASSED;
    };
    const context = 'signal' in caller ? caller : undefined;
    const facts = { member: publicPart(member), arguments: args, context, check };
    try {
      const request = requestFor(caller.transport, caller.principal);
      const ask = await this.guardsOf(member, request);
      await ask(request, INERT_RESPONSE, noop, new McpExecutionContext(facts));
    } catch (error) {
      if (error === PASSED) return true;
      if (httpException(error) === undefined) throw error;
    }
    return false;
  }

  /** Fails closed: before the application has started, its guards may not exist yet. */
  private requirePrepared(): void {
    if (!this.isPrepared) throw new Error('The application has not been initialized. Call `app.init()` first.');
  }
}

/** Ends a call that is cancelled while its guards or interceptors wait, because they may never settle. */
async function unlessAborted(
  running: Promise<unknown>,
  signal: AbortSignal,
  isAdmitted: () => boolean,
): Promise<unknown> {
  let onAbort = noop;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => {
      if (!isAdmitted()) reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([running, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
