import { usesTools } from '../input.js';
import type { ContentBlock, JsonObject, Tool } from '../model.js';
import { revision20251125 } from './2025-11-25.js';
import { allowed, allowList, allowOnly } from './allow-list.js';
import { encodeMessages } from './fields.js';
import { formWithoutChoices } from './flat-form.js';
import { FIELDS_20250618 } from './model-fields.js';
import type { Revision } from './revision.js';

const newer = revision20251125;
const list = allowList(FIELDS_20250618);

const block = (content: ContentBlock): ContentBlock => allowed(content, list.block);

/** The dialect of a schema is not named here. */
const schema = ({ $schema: _dialect, ...keywords }: JsonObject): JsonObject => keywords;

const URL_REQUIRED = -32042;

/**
 * Revision 2025-06-18: no icons, forms without several choices, models without tools, streams that are not resumed by
 * polling.
 */
export const revision20250618: Revision = allowOnly(list, {
  ...newer,
  id: '2025-06-18',
  rank: 2,
  unreadableId: null,
  primesStreams: false,
  tool(tool) {
    const { inputSchema, outputSchema, ...rest } = newer.tool(tool) as unknown as Tool;
    return {
      ...rest,
      inputSchema: schema(inputSchema),
      ...(outputSchema && { outputSchema: schema(outputSchema) }),
    };
  },
  // nobody can be sent to a URL here
  errorCode(error) {
    const code = newer.errorCode(error);
    return code === URL_REQUIRED ? undefined : code;
  },
  sampledKinds: ['text', 'image', 'audio'],
  question(question) {
    const { method, params } = question;
    // nothing of a conversation with tools could be left out
    if (method === 'sampling/createMessage')
      return usesTools(params) ? undefined : { params: encodeMessages(params, block) };
    if (method !== 'elicitation/create') return { params };
    return params['mode'] === 'url' ? undefined : formWithoutChoices(params);
  },
});
