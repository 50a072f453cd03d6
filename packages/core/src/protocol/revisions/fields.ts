import type { ContentBlock, JsonObject, PromptMessage } from '../model.js';

/** The fields of an object that a revision knows, in their order; what it does not know is not sent. */
export function pick(object: object, fields: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    if (value !== undefined && fields.includes(name)) picked[name] = value;
  }
  return picked;
}

/** What a revision sends as it is. */
export const verbatim = (value: object): JsonObject => value as JsonObject;

/** What has messages (a prompt, a request for sampling), with one block in each, in the words of a revision. */
export function encodeMessages<T extends object>(
  whole: T,
  encode: (block: ContentBlock) => ContentBlock,
): T & JsonObject {
  const { messages } = whole as { readonly messages?: readonly PromptMessage[] };
  // those of a conversation with a model may have several blocks
  const encoded = messages?.flatMap(({ role, content }) =>
    [content].flat().map((block) => ({ role, content: encode(block) })),
  );
  return { ...(whole as T & JsonObject), ...(encoded && { messages: encoded }) };
}
