import type { Annotations, ContentBlock, JsonObject, ResourceContents } from '../model.js';
import { revision20250618 } from './2025-06-18.js';
import { pick, wordConversation } from './fields.js';
import type { Revision } from './revision.js';

const newer = revision20250618;

const annotated = (annotations: Annotations | undefined): JsonObject =>
  annotations ? { annotations: pick(annotations, ['audience', 'priority']) } : {};

/** Names are shown to people here, so a title takes the place of the name. */
const shown = ({ name, title }: { readonly name: string; readonly title?: string }) => ({ name: title ?? name });

const contents = (resource: ResourceContents) => pick(resource, ['uri', 'mimeType', 'text', 'blob']);

/** What is known of a link, as text: there are no links here. */
function linkAsText({ uri, name, title, mimeType, description }: ContentBlock & { type: 'resource_link' }): string {
  const details = mimeType === undefined ? uri : `${uri}, ${mimeType}`;
  return `${title ?? name} (${details})${description === undefined ? '' : `: ${description}`}`;
}

/** A block without what came later: links, `_meta`, the time of the last change. */
export function block(content: ContentBlock): JsonObject {
  const annotations = annotated(content.annotations);
  switch (content.type) {
    case 'resource_link':
      return { type: 'text', text: linkAsText(content), ...annotations };
    case 'resource':
      return { type: 'resource', resource: contents(content.resource), ...annotations };
    default:
      return { ...pick(content, ['type', 'text', 'data', 'mimeType']), ...annotations };
  }
}

/**
 * Revision 2025-03-26: no titles, no structured content, no resource links, no elicitation; `_meta` only on requests,
 * notifications and results.
 */
export const revision20250326: Revision = {
  ...newer,
  id: '2025-03-26',
  rank: 1,
  batches: true,
  tool(tool) {
    const { title, annotations, inputSchema } = tool;
    const hints = { ...(title !== undefined && { title }), ...annotations };
    return {
      ...pick(tool, ['name', 'description']),
      inputSchema: newer.tool({ name: tool.name, inputSchema })['inputSchema'],
      ...(Object.keys(hints).length > 0 && { annotations: hints }),
    };
  },
  prompt: (prompt) => ({
    ...pick(prompt, ['name', 'description']),
    ...(prompt.arguments && {
      arguments: prompt.arguments.map((argument) => pick(argument, ['name', 'description', 'required'])),
    }),
  }),
  resource: (resource) => ({
    ...pick(resource, ['uri', 'description', 'mimeType', 'size']),
    ...shown(resource),
    ...annotated(resource.annotations),
  }),
  resourceTemplate: (template) => ({
    ...pick(template, ['uriTemplate', 'description', 'mimeType']),
    ...shown(template),
    ...annotated(template.annotations),
  }),
  toolResult({ structuredContent, ...result }) {
    const content = result.content.map(block);
    if (structuredContent === undefined) return { ...result, content };
    const json = JSON.stringify(structuredContent);
    const isSaid = content.some(({ text }) => text === json);
    return { ...result, content: isSaid ? content : [...content, { type: 'text', text: json }] };
  },
  promptResult: (result) => ({
    ...result,
    messages: result.messages.map(({ role, content }) => ({ role, content: block(content) })),
  }),
  readResult: (result) => ({ ...result, contents: result.contents.map(contents) }),
  implementation: (server) => pick(server, ['name', 'version']),
  question(question) {
    if (question.method === 'elicitation/create') return undefined;
    const wording = newer.question(question);
    if (question.method !== 'sampling/createMessage') return wording;
    return wording && { params: wordConversation(wording.params, block) };
  },
};
