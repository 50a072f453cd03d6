import type { ContextType, PipeTransform } from '@nestjs/common';
import type { ContextId, ExternalContextCreator } from '@nestjs/core';

import { errorProxy } from './exceptions.js';
import { McpExecutionContext } from './execution-context.js';
import type { Target } from './discovery.js';
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

/** The two parameters of each method. Pipes see the first, with the type "custom": its value is already checked. */
const PARAMETERS = [
  { index: 0, type: INPUT, pipes: [], extractValue: (...args: HandlerArguments) => args[CALL] },
  { index: 1, type: CONTEXT, pipes: [], extractValue: (...args: HandlerArguments) => args[CALL].context },
];

/** The part of Nest's creator that runs interceptors. Takes the handler's arguments second, the method last but one. */
interface Interception {
  intercept(...all: unknown[]): Promise<unknown>;
}

function interceptionOf(original: Interception): Interception {
  return {
    async intercept(...all) {
      const call = (all[1] as HandlerArguments)[CALL];
      const next = all.at(-2) as () => Promise<unknown>;
      const run = async () => settle(await next(), call);
      return await original.intercept(...all.with(all.length - 2, run));
    },
  };
}

interface Metadata {
  readonly type: unknown;
}

/**
 * Nest's creator of external contexts, adapted to the methods of one provider. It looks for guards in the provider's
 * module, which the original would not find for controllers, and uses our `PARAMETERS`.
 */
function creatorFor(creator: ExternalContextCreator, moduleKey: string, paramtypes: unknown): ExternalContextCreator {
  const getParamValue = async (value: unknown, metadata: Metadata, pipes: PipeTransform[]): Promise<unknown> => {
    if (metadata.type === CONTEXT) return value;
    const call = value as McpExecutionContext;
    const input = await McpExecutionContext.inputOf(call);
    const piped: unknown = await creator.getParamValue(input, { ...metadata, type: 'custom' } as never, pipes);
    McpExecutionContext.admit(call);
    return piped;
  };
  return Object.assign(Object.create(creator) as ExternalContextCreator, {
    getHostModuleKey: () => moduleKey,
    getContextModuleKey: () => moduleKey,
    getMetadata: () => ({ argsLength: PARAMETERS.length, paramtypes, getParamsMetadata: () => PARAMETERS }),
    getParamValue,
    externalErrorProxy: errorProxy,
    interceptorsConsumer: interceptionOf(
      (creator as unknown as { interceptorsConsumer: Interception }).interceptorsConsumer,
    ),
  });
}

const { getMetadata } = Reflect as unknown as { getMetadata(...of: unknown[]): unknown };

/** The classes of a method's parameters, as the compiler emitted them. An input class in the decorator wins. */
function typesOf({ cls }: Target, key: string, input: unknown): readonly unknown[] {
  const [emitted, context] = (getMetadata('design:paramtypes', cls.prototype, key) ?? []) as readonly unknown[];
  return [typeof input === 'function' && input.prototype !== undefined ? input : emitted, context];
}

/** The parts of a member that the pipeline needs. */
export interface PipedMember {
  readonly key: string;
  /** The schema that the decorator names, if any. */
  readonly input?: unknown;
  /** Whether to leave out interceptors. */
  readonly guardsOnly?: boolean;
}

/** Creates the handler of a member. */
export function createHandler(
  creator: ExternalContextCreator,
  target: Target,
  {
    key,
    input,
    guardsOnly = false,
    instance,
    contextId,
  }: PipedMember & { readonly instance: object; readonly contextId?: ContextId },
): Handler {
  const method = (instance as Readonly<Record<string, (...args: unknown[]) => unknown>>)[key];
  if (method === undefined) throw new Error(`The instance of ${target.cls.name} has no method "${key}".`);
  const types = typesOf(target, key, input);
  return creatorFor(creator, target.module.token, types).create(
    instance as Record<string, (...args: unknown[]) => unknown>,
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
