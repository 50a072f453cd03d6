import { type Class, CompletionContext, Context } from '@decorum/core';

import { startupError } from './errors.js';

/** The metadata key that Nest's parameter decorators write to. */
export const ROUTE_ARGUMENTS = '__routeArguments__';

/** In the keys of decorators that `createParamDecorator` made. */
const CUSTOM = '__customRouteArgs__';

/** The request of a web framework, as far as parameters need it. */
interface HostRequest {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly session?: unknown;
  readonly hosts?: Readonly<Record<string, unknown>>;
  readonly ip?: unknown;
}

type Read = (request: HostRequest, name: string | undefined) => unknown;

const REST = 'Arguments are in the input, as in `method(input: MyDto)`';
const NO_RESPONSE = 'Return the result, or throw an exception';

/** Nest's own parameter decorators by their number: how to read the value, or what to do instead. */
const DECORATORS: Readonly<Record<string, readonly [name: string, read: Read | string]>> = {
  0: ['Req', (request) => request],
  1: ['Res', NO_RESPONSE],
  2: ['Next', NO_RESPONSE],
  3: ['Body (or @Payload)', REST], // @nestjs/microservices has the same numbers
  4: ['Query', REST],
  5: ['Param', REST],
  6: ['Headers', ({ headers }, name) => (name === undefined ? headers : headers[name.toLowerCase()])],
  7: ['Session', ({ session }) => session],
  8: ['UploadedFile', REST],
  9: ['UploadedFiles', REST],
  10: ['HostParam', ({ hosts }, name) => (name === undefined ? hosts : hosts?.[name])],
  11: ['Ip', ({ ip }) => ip],
  12: ['RawBody', REST],
  13: ['Ack', NO_RESPONSE],
};

/** Reads the values of Nest's own parameter decorators. Nest calls it. */
export const PARAMETER_FACTORY = {
  exchangeKeyForValue(type: number, name: unknown, [request]: readonly unknown[]): unknown {
    const [, read] = DECORATORS[type] ?? [];
    if (typeof read !== 'function') return undefined;
    return read(request as HostRequest, typeof name === 'string' ? name : undefined);
  },
};

/** `@Ctx` of @nestjs/microservices has the number of `@Headers`. Only the type of the parameter tells them apart. */
const CONTEXT = '6';

const { getMetadata } = Reflect as unknown as { getMetadata(...of: unknown[]): unknown };

function isContext(type: unknown): boolean {
  const { prototype } = (type ?? {}) as { readonly prototype?: unknown };
  return [Context, CompletionContext].some((known) => prototype === known.prototype || prototype instanceof known);
}

/**
 * The positions of the parameters that have decorators, which Nest fills in.
 * @throws {DecorumError} `DECORUM_INVALID_PARAMETER` for a decorator that has no value in a call over MCP
 */
export function decoratedParameters(cls: Class, key: string): readonly number[] {
  const found = (getMetadata(ROUTE_ARGUMENTS, cls, key) ?? {}) as Readonly<Record<string, { readonly index: number }>>;
  const types = (getMetadata('design:paramtypes', cls.prototype, key) ?? []) as readonly unknown[];
  return Object.entries(found).map(([id, { index }]) => {
    const number = id.split(':', 1)[0] as string;
    const [name, read] = DECORATORS[number] ?? [];
    if (number === CONTEXT && isContext(types[index])) {
      const problem = `the parameter ${index + 1} is the context, and its decorator (@Ctx or @Headers) gives it something else. Remove the decorator`;
      throw startupError('DECORUM_INVALID_PARAMETER', `${cls.name}.${key}`, problem, '(input: MyDto, ctx: Context)');
    }
    if (id.includes(CUSTOM) || typeof read === 'function') return index;
    const problem = `@${name ?? 'this decorator'} of the parameter ${index + 1} has no value in a call over MCP. ${read ?? 'Remove it'}`;
    throw startupError('DECORUM_INVALID_PARAMETER', `${cls.name}.${key}`, problem, '(input: MyDto, ctx: Context)');
  });
}

/**
 * Rejects decorators on the parameters of a method that lists the resources of a template: it only gets the context.
 * @throws {DecorumError} `DECORUM_INVALID_PARAMETER`
 */
export function requirePlainList(cls: Class, list: unknown): void {
  if (typeof list !== 'string') return;
  const [index] = decoratedParameters(cls, list);
  if (index === undefined) return;
  const problem = `the decorator of the parameter ${index + 1} has no value, because the method lists resources. Call \`requestOf(ctx)\` instead`;
  throw startupError('DECORUM_INVALID_PARAMETER', `${cls.name}.${list}`, problem, '(ctx: Context)');
}

/** The first positions that are free for the input and the context. */
export function freePositions(taken: readonly number[]): readonly [input: number, context: number] {
  const [input = 0, context = 1] = Array.from({ length: taken.length + 2 }, (_, at) => at).filter(
    (at) => !taken.includes(at),
  );
  return [input, context];
}
