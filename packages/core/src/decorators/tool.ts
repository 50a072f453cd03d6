import type { Accepted, Parsed, SchemaSource } from '@decorum/schema/internal';

import type { ToolOptions as Options } from '../metadata/member-options.js';
import type { PreviewOptions } from '../metadata/preview-options.js';
import type { ToolResult } from '../protocol/content.js';
import type { NeedInput } from '../protocol/input.js';
import type { CallToolResult } from '../protocol/model.js';
import { type MemberDecorator, memberDecorator, type Method, type ToolDecorator } from './member-decorator.js';

/** Options of `@Tool`. */
export type ToolOptions<I extends SchemaSource = SchemaSource, O extends SchemaSource = SchemaSource> = Options<
  I,
  O,
  Accepted<O>
>;

/** A complete result, as in the official SDK. */
type WrittenOut<T> = Omit<CallToolResult, 'structuredContent'> &
  ({ readonly structuredContent: T } | { readonly isError: boolean });

type Answer<O> = Accepted<O> | ToolResult<Accepted<O>> | WrittenOut<Accepted<O>> | NeedInput;

type Returned<O> =
  | Answer<O>
  | Promise<Answer<O>>
  | AsyncGenerator<unknown, Answer<O>, void>
  | Generator<unknown, Answer<O>, void>;

/** Methods that accept the output of the schema `I` and return a value that the schema `O` accepts. */
export type ToolMethod<I, O> = (input: Parsed<I>, context: never) => Returned<O>;

/** The `preview` option, which names a method of the class. */
interface Previewed<By extends string> {
  readonly preview?: By | PreviewOptions<By>;
}

type InputOnly<I> = (input: Parsed<I>, context: never) => unknown;
type OutputOnly<O> = (...args: never[]) => Returned<O>;

/** Serves a method as a tool, with a schema for its input and one for its output. */
export function Tool<I extends SchemaSource, O extends SchemaSource, By extends string = never>(
  options: ToolOptions<I, O> & { readonly input: I; readonly output: O } & Previewed<By>,
): ToolDecorator<ToolMethod<I, O>, By>;
/** Serves a method as a tool, with a schema for its input. */
export function Tool<I extends SchemaSource, By extends string = never>(
  options: ToolOptions<I> & { readonly input: I; readonly output?: undefined } & Previewed<By>,
): ToolDecorator<InputOnly<I>, By>;
/** Serves a method as a tool, with a schema for its output. */
export function Tool<O extends SchemaSource, By extends string = never>(
  options: ToolOptions<never, O> & { readonly output: O; readonly input?: undefined } & Previewed<By>,
): ToolDecorator<OutputOnly<O>, By>;
/**
 * Serves a method as a tool. The method receives the validated arguments and the call's `Context`. Its return value
 * becomes content: text, numbers, objects (as JSON), bytes, streams, content blocks, or a complete result.
 *
 * A method whose parameter contradicts `input`, or whose result contradicts `output`, does not compile.
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named members
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` if used without parentheses, or on anything but a method
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 * @example
 * ```ts
 * class Place {
 *   @IsString() city!: string;
 * }
 *
 * class Weather {
 *   @Tool({ description: 'Tells the temperature in a city', annotations: { readOnlyHint: true } })
 *   temperature({ city }: Place, ctx: Context) {
 *     ctx.log.info(`Looking up ${city}`);
 *     return `21 °C in ${city}`;
 *   }
 * }
 * ```
 */
export function Tool<By extends string = never>(options?: ToolOptions & Previewed<By>): ToolDecorator<Method, By>;
export function Tool(options: ToolOptions = {}, ...rest: unknown[]): MemberDecorator<Method> {
  return memberDecorator('tool', options, [options, ...rest]);
}
