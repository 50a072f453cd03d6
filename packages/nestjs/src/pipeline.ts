import type { ContextType, PipeTransform } from '@nestjs/common';
import type { ContextId, ExternalContextCreator } from '@nestjs/core';

import { errorProxy } from './exceptions.js';
import { McpExecutionContext } from './execution-context.js';
import type { Target } from './discovery.js';
import { Leaving } from './leaving.js';
import { decoratedParameters, freePositions, PARAMETER_FACTORY, ROUTE_ARGUMENTS } from './parameters.js';
import { INERT_RESPONSE } from './request.js';
import { settle } from './settle.js';

/** The type of the context that guards and interceptors see. */
const CONTEXT_TYPE = 'mcp' as ContextType;

/** The arguments that guards and interceptors find in their context. */
export type HandlerArguments = readonly [
  request: object,
  response: object,
  next: () => void,
  call: McpExecutionContext,
];

/** Runs a method inside the guards, interceptors, pipes and filters that Nest finds for it. */
export type Handler = (...args: HandlerArguments) => Promise<unknown>;

/** Position of the call in the arguments of a handler. */
const CALL = 3;

const INPUT = Symbol('input');
const CONTEXT = Symbol('context');

/** A parameter, as Nest describes it. Pipes see the type "custom": the value of the input is already checked. */
interface Parameter {
  readonly index: number;
  readonly type: unknown;
  readonly pipes: readonly unknown[];
  extractValue(...args: HandlerArguments): unknown;
}

const contextOf = ({ context }: McpExecutionContext) => ({ context });

/** The input and the context, on the positions that no decorator has. */
function ownParameters(taken: readonly number[]): readonly [input: Parameter, context: Parameter] {
  const [input, context] = freePositions(taken);
  return [
    {
      index: input,
      type: INPUT,
      pipes: [],
      extractValue: (...args) => ({ call: args[CALL], ...contextOf(args[CALL]) }),
    },
    { index: context, type: CONTEXT, pipes: [], extractValue: (...args) => args[CALL].context },
  ];
}

/** The part of Nest's creator that runs interceptors. Takes the handler's arguments second, the method last but one. */
interface Interception {
  intercept(...all: unknown[]): Promise<unknown>;
}

/** The part of Nest's creator that reads what a guard returned. */
interface Activation {
  pickResult(result: unknown): Promise<unknown>;
}

/** Guards that return the response have answered: over HTTP, nothing could follow. */
const activationOf = (original: Activation): Activation =>
  Object.assign(Object.create(original) as Activation, {
    async pickResult(result: unknown) {
      const picked = await original.pickResult(result);
      return picked !== INERT_RESPONSE && picked;
    },
  });

function interceptionOf(original: Interception): Interception {
  return {
    async intercept(...all) {
      const [interceptors = []] = all as [readonly unknown[] | undefined];
      const call = (all[1] as HandlerArguments)[CALL];
      const next = all.at(-2) as () => Promise<unknown>;
      const { context, member } = call;
      const leaving = context && interceptors.length > 0 ? new Leaving(context) : undefined;
      const run = async () => {
        const running = leaving?.running ?? context;
        const value = await McpExecutionContext.start(call, running, next);
        return await (settle(value, running, member.kind) as Promise<unknown>);
      };
      const given = leaving ? all.with(0, [...interceptors, leaving]) : all;
      return await original.intercept(...given.with(all.length - 2, run));
    },
  };
}

interface Metadata {
  readonly type: unknown;
}

/** The parameters of a method, and their classes. */
interface Signature {
  readonly own: readonly Parameter[];
  readonly paramtypes: readonly unknown[];
  /** Whether Nest also fills in parameters with decorators. */
  readonly hasDecorated: boolean;
}

/** Nest's description of the parameters of a method. */
interface Described {
  getParamsMetadata(...args: unknown[]): readonly Parameter[] | null;
}

/**
 * Nest's creator of external contexts, adapted to the methods of one provider. It looks for guards in the provider's
 * module, which the original would not find for controllers, and adds the input and the context to the parameters.
 */
function creatorFor(creator: ExternalContextCreator, moduleKey: string, signature: Signature): ExternalContextCreator {
  const { own, paramtypes, hasDecorated } = signature;
  const describe = (instance: unknown, key: string) => {
    const { getParamsMetadata }: Described = creator.getMetadata(
      instance as never,
      key,
      ROUTE_ARGUMENTS,
      PARAMETER_FACTORY,
      CONTEXT_TYPE,
    );
    const decorated = (...args: unknown[]) => (hasDecorated ? (getParamsMetadata(...args) ?? []) : []);
    const argsLength = Math.max(paramtypes.length, ...own.map(({ index }) => index + 1));
    return { argsLength, paramtypes, getParamsMetadata: (...args: unknown[]) => [...decorated(...args), ...own] };
  };
  const getParamValue = async (value: unknown, metadata: Metadata, pipes: PipeTransform[]): Promise<unknown> => {
    if (metadata.type === CONTEXT) return value;
    if (metadata.type !== INPUT)
      return await creator.getParamValue(value, { ...metadata, type: 'custom' } as never, pipes);
    const { call, context } = value as { call: McpExecutionContext } & ReturnType<typeof contextOf>;
    const input = await McpExecutionContext.inputOf(call);
    const piped: unknown = await creator.getParamValue(input, { ...metadata, type: 'custom' } as never, pipes);
    // an interceptor may have left while a rule or pipe was waiting
    context?.signal.throwIfAborted();
    McpExecutionContext.admit(call);
    return piped;
  };
  return Object.assign(Object.create(creator) as ExternalContextCreator, {
    getHostModuleKey: () => moduleKey,
    getContextModuleKey: () => moduleKey,
    getMetadata: describe,
    getParamValue,
    externalErrorProxy: errorProxy,
    guardsConsumer: activationOf((creator as unknown as { guardsConsumer: Activation }).guardsConsumer),
    interceptorsConsumer: interceptionOf(
      (creator as unknown as { interceptorsConsumer: Interception }).interceptorsConsumer,
    ),
  });
}

const { getMetadata } = Reflect as unknown as { getMetadata(...of: unknown[]): unknown };

/**
 * The parameters of a method, with their classes as the compiler emitted them. An input class in the decorator wins.
 * @param isWhole whether to fill in parameters with decorators too
 */
function signatureOf({ cls }: Target, { key, input }: PipedMember, isWhole: boolean): Signature {
  const taken = decoratedParameters(cls, key);
  const own = ownParameters(taken);
  const paramtypes = [...((getMetadata('design:paramtypes', cls.prototype, key) ?? []) as readonly unknown[])];
  if (typeof input === 'function' && input.prototype !== undefined) paramtypes[own[0].index] = input;
  return { own, paramtypes, hasDecorated: isWhole && taken.length > 0 };
}

/** An object, as Nest calls it. */
type Methods = Record<string, (...args: unknown[]) => unknown>;

/** Calls a method of an object. Guards find the metadata and the name of another method. */
function standIn(instance: object, calls: string, shown: Methods[string]): Methods[string] {
  const called = (...args: unknown[]): unknown => (instance as Methods)[calls]?.(...args);
  Object.defineProperty(called, 'name', { value: shown.name, configurable: true });
  return Object.setPrototypeOf(called, shown) as Methods[string];
}

/**
 * An object that calls a method, and on which Nest finds the metadata of the class and of its method. A mock has no
 * metadata, and neither has the object for instances that the server replaces on each call (`scope: 'request'`).
 */
function describedInstance({ cls, isOfFunctions = false }: Target, given: object, key: string): Methods {
  const instance = given as Methods;
  const declared = (cls.prototype as Methods)[key];
  const isDescribed = isOfFunctions || instance.constructor === cls;
  if (isDescribed || declared === undefined || instance[key] === undefined) return instance;
  const described = { value: standIn(instance, key, declared) };
  return Object.create(cls.prototype as object, { [key]: described }) as Methods;
}

/** The parts of a member that the pipeline needs. */
export interface PipedMember {
  readonly key: string;
  /** The schema that the decorator names, if any. */
  readonly input?: unknown;
  /** The method that is called in place of the member's own. */
  readonly calls?: string | undefined;
  /** Whether to leave out interceptors. */
  readonly guardsOnly?: boolean;
}

/** Creates the handler of a member. */
export function createHandler(
  creator: ExternalContextCreator,
  target: Target,
  member: PipedMember & { readonly instance: object; readonly contextId?: ContextId },
): Handler {
  const { key, calls, guardsOnly = false, contextId } = member;
  const instance = describedInstance(target, member.instance, key);
  const own = instance[key];
  const method = calls === undefined || own === undefined ? own : standIn(member.instance, calls, own);
  if (method === undefined) throw new Error(`The instance of ${target.cls.name} has no method "${key}".`);
  // parameters need values that only calls have
  const signature = signatureOf(target, member, !guardsOnly);
  return creatorFor(creator, target.module.token, signature).create(
    instance,
    method,
    key,
    undefined,
    undefined,
    contextId,
    target.wrapper.id,
    { guards: true, interceptors: !guardsOnly, filters: true },
    CONTEXT_TYPE,
  ) as Handler;
}
