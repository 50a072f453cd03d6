import type { Access, CompletionContext, Context, MemberHost, UncheckedInput } from '@decorum/core';
import { scanMembers } from '@decorum/core/transport';
import type { ApplicationConfig, ExternalContextCreator } from '@nestjs/core';

import type { Target } from './discovery.js';
import { requireEnhancers } from './enhancers.js';
import { httpException, PASSED, publicError } from './exceptions.js';
import { McpExecutionContext, type McpMember } from './execution-context.js';
import { createHandler, type Handler } from './pipeline.js';
import { INERT_RESPONSE, requestOf } from './request.js';
import { createScoped, isScoped } from './scope.js';

type MemberRecord = ReturnType<typeof scanMembers>[number];
type AnyContext = Context | CompletionContext;
type Methods = Readonly<Record<PropertyKey, unknown>>;

/** The parts of the application that calls need. */
export interface Nest {
  readonly creator: ExternalContextCreator;
  readonly config: ApplicationConfig;
}

/** A member and the schema that its decorator names. */
interface HostedMember extends McpMember {
  readonly input: unknown;
}

const noop = () => {};

/** Methods that the server calls when it starts and closes. */
const HOOKS: ReadonlySet<string | symbol> = new Set(['onStart', 'onClose']);

function memberOf({ kind, key, options }: MemberRecord): HostedMember {
  const { name = key, uri, argument, input } = options as Readonly<Record<string, unknown>>;
  return { kind: kind as McpMember['kind'], key, name: String(uri ?? argument ?? name), input };
}

/** A provider whose methods run inside Nest's guards, interceptors, pipes and filters. */
export class HostedProvider implements MemberHost {
  /** The object that the server calls in place of the instance. */
  readonly provider: object;
  readonly shown?: NonNullable<MemberHost['shown']>;
  private readonly members: ReadonlyMap<string, HostedMember>;
  private readonly isScoped: boolean;
  /** The handlers, if all calls share one instance. */
  private readonly handlers = new Map<HostedMember, Handler>();
  /** The handlers that only run guards, such as for lists. */
  private readonly guards = new Map<HostedMember, Handler>();

  /** @throws {DecorumError} `DECORUM_UNBOUND_ENHANCER` */
  constructor(
    private readonly target: Target,
    private readonly nest: Nest,
    hidesGuarded: boolean,
  ) {
    const { cls } = target;
    this.isScoped = isScoped(target, nest.config);
    this.members = new Map(scanMembers(cls).map((record) => [idOf(record), memberOf(record)]));
    for (const { key } of this.members.values()) requireEnhancers(target, key);
    if (!this.isScoped) this.prepare(target.wrapper.instance as object);
    if (hidesGuarded) this.shown = (key, kind) => this.access(key, kind);
    this.provider = new Proxy(Object.create(cls.prototype as object) as object, {
      get: (of, key) => this.property(of, key),
    });
  }

  /** Creates all handlers at startup, so that mistakes show early. */
  private prepare(instance: object): void {
    for (const member of this.members.values()) {
      const { key } = member;
      // skipped, because the server rejects the provider
      if (typeof (instance as Methods)[key] !== 'function') continue;
      this.handlers.set(member, createHandler(this.nest.creator, this.target, { ...member, instance }));
    }
  }

  private property(prototype: object, key: string | symbol): unknown {
    // there is no instance yet; Nest skips its own hooks too
    if (this.isScoped && HOOKS.has(key)) return undefined;
    const source = this.isScoped ? prototype : (this.target.wrapper.instance as object);
    const value: unknown = Reflect.get(source, key);
    if (typeof value !== 'function' || key === 'constructor') return value;
    if (![...this.members.values()].some((member) => member.key === key)) {
      return async (...args: unknown[]) => await this.callPlain(key, args);
    }
    return async (input: UncheckedInput | string, context: AnyContext) => await this.call(String(key), input, context);
  }

  /** Calls a method that isn't a member: a hook, or a method that lists resources. */
  private async callPlain(key: string | symbol, args: unknown[]): Promise<unknown> {
    const context = args.find(
      (argument): argument is Context => typeof argument === 'object' && argument !== null && 'transport' in argument,
    );
    let instance: object = this.target.wrapper.instance as object;
    if (this.isScoped && context) {
      const request = requestOf(context.transport, context.principal);
      ({ instance } = await createScoped(this.target, request, this.nest.creator));
    }
    return (instance as Record<PropertyKey, (...given: unknown[]) => unknown>)[key]?.(...args);
  }

  private async call(key: string, input: UncheckedInput | string, context: AnyContext): Promise<unknown> {
    const isText = typeof input === 'string';
    const kind = isText ? 'completion' : input.kind;
    const member = this.members.get(idOf({ kind, key })) as HostedMember;
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
    const running = this.run(member, requestOf(context.transport, context.principal), call);
    try {
      return await unlessAborted(running, context.signal, () => isAdmitted);
    } catch (error) {
      throw publicError(error, member.kind);
    }
  }

  private async run(member: HostedMember, request: object, call: McpExecutionContext): Promise<unknown> {
    const handler = this.handlers.get(member) ?? (await this.scopedHandler(member, request));
    return await handler(request, INERT_RESPONSE, noop, call);
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

  /** Runs the guards of a member without calling the member. */
  private access(key: string, kind: string): Access {
    const member = this.members.get(idOf({ kind, key })) as HostedMember;
    return async (principal, transport) => {
      const check = () => {
        throw PASSED;
      };
      const facts = { member: publicPart(member), arguments: undefined, context: undefined, check };
      try {
        const request = requestOf(transport, principal);
        const ask = await this.guardsOf(member, request);
        await ask(request, INERT_RESPONSE, noop, new McpExecutionContext(facts));
      } catch (error) {
        if (error === PASSED) return true;
        if (httpException(error) === undefined) throw error;
      }
      return false;
    };
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

const idOf = ({ kind, key }: { readonly kind: string; readonly key: string }) => `${kind} ${key}`;

const publicPart = ({ kind, key, name }: HostedMember): McpMember => ({ kind, key, name });
