import type { ContentBlock, Tool } from '../model.js';
import { revision20250618 } from './2025-06-18.js';
import { allowed, allowList, allowOnly } from './allow-list.js';
import { encodeMessages } from './fields.js';
import { FIELDS_20250326 } from './model-fields.js';
import type { Revision } from './revision.js';

const newer = revision20250618;
const list = allowList(FIELDS_20250326);

/** Clients of this revision show the name to the user, so send the title in its place. */
const shown = <T extends { readonly name: string; readonly title?: string }>(entry: T): T => ({
  ...entry,
  name: entry.title ?? entry.name,
});

/** This revision has no resource links: write the link as text. */
function linkAsText({ uri, name, title, mimeType, description }: ContentBlock & { type: 'resource_link' }): string {
  const details = mimeType === undefined ? uri : `${uri}, ${mimeType}`;
  return `${title ?? name} (${details})${description === undefined ? '' : `: ${description}`}`;
}

function withoutLink(content: ContentBlock): ContentBlock {
  if (content.type !== 'resource_link') return content;
  const { annotations } = content;
  return { type: 'text', text: linkAsText(content), ...(annotations && { annotations }) };
}

const block = (content: ContentBlock): ContentBlock => allowed(withoutLink(content), list.block);

/**
 * Revision 2025-03-26: no titles, no structured content, no resource links, no elicitation; `_meta` only on requests,
 * notifications and results.
 */
export const revision20250326: Revision = allowOnly(list, {
  ...newer,
  id: '2025-03-26',
  rank: 1,
  batches: true,
  tool(tool) {
    const { title, annotations, ...rest } = newer.tool(tool) as unknown as Tool;
    const hints = { ...(title !== undefined && { title }), ...annotations };
    return { ...rest, ...(Object.keys(hints).length > 0 && { annotations: hints }) };
  },
  resource: (resource) => newer.resource(shown(resource)),
  resourceTemplate: (template) => newer.resourceTemplate(shown(template)),
  toolResult({ structuredContent, ...result }) {
    const content = result.content.map(withoutLink);
    const json = JSON.stringify(structuredContent) as string | undefined;
    const isIncluded = json === undefined || content.some((each) => each.type === 'text' && each.text === json);
    return { ...result, content: isIncluded ? content : [...content, { type: 'text', text: json }] };
  },
  sendsObjects: () => false,
  promptResult: (result) => encodeMessages(result, withoutLink),
  question(question) {
    const encoded = question.method === 'elicitation/create' ? undefined : newer.question(question);
    return encoded && { params: encodeMessages(encoded.params, block) };
  },
});
