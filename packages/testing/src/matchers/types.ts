import type { FailureKind } from '@decorum/core';

import type { TestClient } from '../client.js';
import type { ExpectedImage } from './content.js';

/** What a matcher returns: a promise for whatever has to be awaited, and else what the runner's own matchers return. */
type Returned<R, T> = T extends TestClient | PromiseLike<unknown> ? Promise<void> : R;

/** A text: the whole, a pattern, or an asymmetric matcher of the runner. */
type ExpectedText = string | RegExp | object;

/** The matchers of `@decorum/testing/jest` and `@decorum/testing/vitest`. */
export interface McpMatchers<R, T> {
  /**
   * The server has a tool. Pass a client, a list of tools or a contract.
   * @param expected members of its entry. Those that the client's revision doesn't have are not compared
   */
  toHaveTool(name: string, expected?: object): Returned<R, T>;
  /**
   * The server has a resource or a template.
   * @param uri as listed, such as `weather://{city}/today`
   * @param expected members of its entry. Those that the client's revision doesn't have are not compared
   */
  toHaveResource(uri: string, expected?: object): Returned<R, T>;
  /**
   * The server has a prompt.
   * @param expected members of its entry. Those that the client's revision doesn't have are not compared
   */
  toHavePrompt(name: string, expected?: object): Returned<R, T>;
  /** A text of the result is the expected one, or matches the pattern. Pass a result, or a promise of one. */
  toReturnText(expected?: ExpectedText): Returned<R, T>;
  /**
   * The result has structured content.
   * @param expected members of it. Revisions without structured content have it as JSON in a text
   */
  toReturnStructured(expected?: unknown): Returned<R, T>;
  /**
   * The result has an image.
   * @param expected its media type, or `{ mimeType, data }` with bytes or base64
   */
  toReturnImage(expected?: ExpectedImage): Returned<R, T>;
  /**
   * The structured content matches the output schema of the tool. Await it.
   * @param schema by default the one that the tool declares
   */
  toMatchOutputSchema(schema?: object): Promise<void>;
  /** The result is an error for the model. */
  toBeToolError(expected?: ExpectedText): Returned<R, T>;
  /**
   * The call was rejected with a protocol error.
   * @param kind such as `unknown-tool`, or a code. Kinds with the same code in the client's revision are the same
   */
  toBeMcpError(kind?: FailureKind | number): Returned<R, T>;
  /**
   * The server has asked the client: during a call, or at all if you pass a client.
   * @param expected the message, a pattern, or members of `{ method, ...params }`
   */
  toAskFor(expected?: ExpectedText): Returned<R, T>;
}
