import type { ContentBlock, JsonObject, PromptMessage } from '../model.js';

/** The fields of an object that a revision knows, in their order; what it does not know is not sent. */
export function pick(object: object, fields: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    if (value !== undefined && fields.includes(name)) picked[name] = value;
  }
  return picked;
}

/** The messages of a sampling request, each block in the words of a revision. */
export function wordConversation(params: JsonObject, word: (block: ContentBlock) => object): JsonObject {
  const messages = params['messages'] as readonly PromptMessage[];
  return { ...params, messages: messages.map(({ role, content }) => ({ role, content: word(content) })) };
}
