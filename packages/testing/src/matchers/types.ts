import type { FailureKind } from '@decorum/core';

import type { TestClient } from '../client.js';
import type { ExpectedImage } from './content.js';

/** The return type of a matcher: a promise for clients and promises, otherwise that of the runner's own matchers. */
type Returned<R, T> = T extends TestClient | PromiseLike<unknown> ? Promise<void> : R;

/** An expected text: the whole text, a pattern, or an asymmetric matcher of the runner. */
type ExpectedText = string | RegExp | object;

/** The matchers of `@decorum/testing/jest` and `@decorum/testing/vitest`. */
export interface McpMatchers<R, T> {
  /**
   * The server has a tool. Pass a client, a list of tools or a contract.
   * @param expected members of its entry. Members that the client's revision doesn't have are ignored
   */
  toHaveTool(name: string, expected?: object): Returned<R, T>;
  /**
   * The server has a resource or a template.
   * @param uri as in the list, such as `weather://{city}/today`
   * @param expected members of its entry. Members that the client's revision doesn't have are ignored
   */
  toHaveResource(uri: string, expected?: object): Returned<R, T>;
  /**
   * The server has a prompt.
   * @param expected members of its entry. Members that the client's revision doesn't have are ignored
   */
  toHavePrompt(name: string, expected?: object): Returned<R, T>;
  /** One of the result's texts equals the expected text or matches the pattern. Pass a result or a promise of one. */
  toReturnText(expected?: ExpectedText): Returned<R, T>;
  /**
   * The result has structured content.
   * @param expected the expected content, or some of its members. Revisions without structured content send it as JSON
   * in a text block
   */
  toReturnStructured(expected?: unknown): Returned<R, T>;
  /**
   * The result has an image.
   * @param expected its media type, or `{ mimeType, data }` with bytes or base64
   */
  toReturnImage(expected?: ExpectedImage): Returned<R, T>;
  /**
   * The structured content matches the output schema of the tool. Await it.
   * @param schema defaults to the one that the tool declares
   */
  toMatchOutputSchema(schema?: object): Promise<void>;
  /** The result is an error for the model. */
  toBeToolError(expected?: ExpectedText): Returned<R, T>;
  /**
   * The call was rejected with a protocol error.
   * @param kind such as `unknown-tool`, or a code. Kinds that share a code in the client's revision count as the same
   */
  toBeMcpError(kind?: FailureKind | number): Returned<R, T>;
  /**
   * The server has asked a question: during the call or, if you pass a client, at any time.
   * @param expected the message, a pattern, or members of `{ method, ...params }`
   */
  toAskFor(expected?: ExpectedText): Returned<R, T>;
}
