import type { JsonObject } from '@decorum/schema/internal';

import { usesTools } from '../input.js';
import type { ContentBlock, Tool } from '../model.js';
import { revision20251125 } from './2025-11-25.js';
import { allowed, allowList, allowOnly } from './allow-list.js';
import { encodeMessages } from './fields.js';
import { formWithoutChoices } from './flat-form.js';
import { FIELDS_20250618 } from './model-fields.js';
import type { Revision } from './revision.js';

const newer = revision20251125;
const list = allowList(FIELDS_20250618);

const block = (content: ContentBlock): ContentBlock => allowed(content, list.block);

/** In this revision, schemas don't name their dialect. */
const schema = ({ $schema: _dialect, ...keywords }: JsonObject): JsonObject => keywords;

const URL_REQUIRED = -32042;

/** Revision 2025-06-18: no icons, no multiple choice in forms, no tools in sampling, no polling of streams. */
export const revision20250618: Revision = allowOnly(list, {
  ...newer,
  id: '2025-06-18',
  rank: 2,
  extensions: false,
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
  // this revision cannot send users to URLs
  errorCode(error) {
    const code = newer.errorCode(error);
    return code === URL_REQUIRED ? undefined : code;
  },
  sampledKinds: ['text', 'image', 'audio'],
  question(question) {
    const { method, params } = question;
    // a conversation with tools would make no sense without them
    if (method === 'sampling/createMessage')
      return usesTools(params) ? undefined : { params: encodeMessages(params, block) };
    if (method !== 'elicitation/create') return { params };
    return params['mode'] === 'url' ? undefined : formWithoutChoices(params);
  },
});
