import type { ContentBlock, JsonObject } from '../model.js';

/** The fields of an object that a revision knows, in their order; what it does not know is not sent. */
export function pick(object: object, fields: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    if (value !== undefined && fields.includes(name)) picked[name] = value;
  }
  return picked;
}

/** The messages of a sampling request, with one block each, and each block in the words of a revision. */
export function wordConversation(params: JsonObject, word: (block: ContentBlock) => object): JsonObject {
  const messages = params['messages'] as readonly { role: string; content: ContentBlock | readonly ContentBlock[] }[];
  return {
    ...params,
    messages: messages.flatMap(({ role, content }) =>
      [content].flat().map((block) => ({ role, content: word(block as ContentBlock) })),
    ),
  };
}
