import { usesTools } from '../input.js';
import type { ContentBlock, JsonObject, Tool } from '../model.js';
import { revision20251125 } from './2025-11-25.js';
import { pick, wordConversation } from './fields.js';
import { formWithoutChoices } from './flat-form.js';
import type { Revision } from './revision.js';

const LISTED = ['name', 'title', 'description', '_meta'];
const RESOURCE = [...LISTED, 'mimeType', 'annotations'];
const LINK = ['type', 'uri', 'size', ...RESOURCE];

const newer = revision20251125;

/** A link has no icons here; other blocks are as they are later. */
const block = (content: ContentBlock): ContentBlock =>
  content.type === 'resource_link' ? (pick(content, LINK) as unknown as ContentBlock) : content;

/** The dialect of a schema is not named here. */
const schema = ({ $schema: _dialect, ...keywords }: JsonObject): JsonObject => keywords;

const URL_REQUIRED = -32042;

/**
 * Revision 2025-06-18: no icons, forms without several choices, models without tools, streams that are not resumed by
 * polling.
 */
export const revision20250618: Revision = {
  ...newer,
  id: '2025-06-18',
  rank: 2,
  unreadableId: null,
  primesStreams: false,
  tool(tool) {
    const { inputSchema, outputSchema } = newer.tool(tool) as unknown as Tool;
    return {
      ...pick(tool, [...LISTED, 'annotations']),
      inputSchema: schema(inputSchema),
      ...(outputSchema && { outputSchema: schema(outputSchema) }),
    };
  },
  prompt: (prompt) => pick(prompt, [...LISTED, 'arguments']),
  resource: (resource) => pick(resource, ['uri', 'size', ...RESOURCE]),
  resourceTemplate: (template) => pick(template, ['uriTemplate', ...RESOURCE]),
  toolResult: (result, tool) => ({ ...newer.toolResult(result, tool), content: result.content.map(block) }),
  promptResult: (result) => ({
    ...result,
    messages: result.messages.map(({ role, content }) => ({ role, content: block(content) })),
  }),
  implementation: (server) => pick(server, ['name', 'title', 'version']),
  // nobody can be sent to a URL here
  errorCode(error) {
    const code = newer.errorCode(error);
    return code === URL_REQUIRED ? undefined : code;
  },
  question(question) {
    const { method, params } = question;
    // nothing of a conversation with tools could be left out
    if (method === 'sampling/createMessage')
      return usesTools(params) ? undefined : { params: wordConversation(params, block) };
    if (method !== 'elicitation/create') return { params };
    return params['mode'] === 'url' ? undefined : formWithoutChoices(params);
  },
};
