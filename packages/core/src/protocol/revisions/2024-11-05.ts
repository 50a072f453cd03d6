import { PART_OF_MESSAGE } from '../content.js';
import type { ContentBlock } from '../model.js';
import { revision20250326 } from './2025-03-26.js';
import { allowList, allowOnly } from './allow-list.js';
import { encodeMessages } from './fields.js';
import { FIELDS_20241105 } from './model-fields.js';
import type { Revision } from './revision.js';

const newer = revision20250326;

/** This revision has no audio: send it as an embedded resource, without loss. */
function withoutAudio(content: ContentBlock): ContentBlock {
  if (content.type !== 'audio') return content;
  const { data, mimeType, annotations } = content;
  const resource = { uri: PART_OF_MESSAGE, mimeType, blob: data };
  return { type: 'resource', resource, ...(annotations && { annotations }) };
}

/** Sampling messages allow only text and images: replace audio with its MIME type as text. */
const audioAsText = (content: ContentBlock): ContentBlock =>
  content.type === 'audio' ? { type: 'text', text: `[${content.mimeType}]` } : content;

/**
 * Revision 2024-11-05: no audio, no tool annotations, no messages in progress notifications, no completions capability.
 */
export const revision20241105: Revision = allowOnly(allowList(FIELDS_20241105), {
  ...newer,
  id: '2024-11-05',
  rank: 0,
  batches: false,
  toolResult: (result, tool) => newer.toolResult({ ...result, content: result.content.map(withoutAudio) }, tool),
  promptResult: (result) => newer.promptResult(encodeMessages(result, withoutAudio)),
  progressMessages: false,
  sampledKinds: ['text', 'image'],
  question(question) {
    const encoded = newer.question(question);
    return encoded && { params: encodeMessages(encoded.params, audioAsText) };
  },
});
