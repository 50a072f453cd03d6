import type { JsonObject } from '@decorum/schema/internal';

import type { ContentBlock, PromptMessage } from '../model.js';

/** Picks the given fields of an object, except undefined ones. */
export function pick(object: object, fields: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    if (value !== undefined && fields.includes(name)) picked[name] = value;
  }
  return picked;
}

/** For objects that a revision sends unchanged. */
export const verbatim = (value: object): JsonObject => value as JsonObject;

/** Encodes the messages of a prompt or sampling request, with one block per message. */
export function encodeMessages<T extends object>(
  whole: T,
  encode: (block: ContentBlock) => ContentBlock,
): T & JsonObject {
  const { messages } = whole as { readonly messages?: readonly PromptMessage[] };
  // sampling messages may have several blocks
  const encoded = messages?.flatMap(({ role, content }) =>
    [content].flat().map((block) => ({ role, content: encode(block) })),
  );
  return { ...(whole as T & JsonObject), ...(encoded && { messages: encoded }) };
}
