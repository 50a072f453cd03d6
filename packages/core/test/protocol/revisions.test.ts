// Each revision sends only the fields in its official schema.
import { describe, expect, it } from '@jest/globals';

import { schemaOf } from '../../../../test/support/schemas.js';
import type { JsonObject } from '@decorum/schema';
import type { Revision as Id } from '../../../../test/support/requirements.js';
import type {
  Annotations,
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  Icon,
  Implementation,
  Prompt,
  PromptArgument,
  PromptMessage,
  ReadResourceResult,
  Resource,
  ResourceContents,
  ResourceTemplate,
  ServerCapabilities,
  Tool,
  ToolAnnotations,
} from '../../src/protocol/model.js';
import { REVISIONS } from '../../src/protocol/revisions/index.js';
import type { Revision } from '../../src/protocol/revisions/revision.js';

// all fields of the model
const meta = { 'example.com/key': { future: 1 } };
const icon: Required<Icon> = { src: 'https://example.com/a.png', mimeType: 'image/png', sizes: ['any'], theme: 'dark' };
const annotations: Required<Annotations> = { audience: ['user'], priority: 1, lastModified: '2025-01-12T15:00:58Z' };
const effects = { readOnlyHint: true, destructiveHint: true, idempotentHint: true, openWorldHint: true };
const hints: Required<ToolAnnotations> = { title: 'A', ...effects };
const listed = { name: 'a', title: 'A', description: 'About a', icons: [icon], _meta: meta };
const schema = { type: 'object', properties: { future: { type: 'string' } } };
const tool: Required<Tool> = { ...listed, inputSchema: schema, outputSchema: schema, annotations: hints };
const argument: Required<PromptArgument> = { name: 'b', title: 'B', description: 'About b', required: true };
const prompt: Required<Prompt> = { ...listed, arguments: [argument] };
const located = { ...listed, mimeType: 'text/plain', annotations };
const resource: Required<Resource> = { ...located, uri: 'a://b', size: 1 };
const template: Required<ResourceTemplate> = { ...located, uriTemplate: 'a://{b}' };
const text: ResourceContents = { uri: 'a://b', mimeType: 'text/plain', text: 'b', _meta: meta };
const blob: ResourceContents = { uri: 'a://b', mimeType: 'image/png', blob: 'AA==', _meta: meta };
const BLOCKS = {
  TextContent: { type: 'text', text: 'a', annotations, _meta: meta },
  ImageContent: { type: 'image', data: 'AA==', mimeType: 'image/png', annotations, _meta: meta },
  AudioContent: { type: 'audio', data: 'AA==', mimeType: 'audio/wav', annotations, _meta: meta },
  EmbeddedResource: { type: 'resource', resource: text, annotations, _meta: meta },
  ResourceLink: { ...resource, type: 'resource_link' },
} satisfies Record<string, ContentBlock>;
const blocks: ContentBlock[] = Object.values(BLOCKS);
const structured = { structuredContent: { future: 1 }, isError: false };
const toolResult: Required<CallToolResult> = { content: blocks, ...structured, _meta: meta };
const messages = blocks.map((block) => ({ role: 'user', content: block }) as const);
const promptResult: Required<GetPromptResult> = { description: 'About a', messages, _meta: meta };
const readResult: Required<ReadResourceResult> = { contents: [text, blob], _meta: meta };
const shown = { title: 'A', description: 'About a', icons: [icon], websiteUrl: 'https://example.com' };
const server: Required<Implementation> = { name: 'a', version: '1', ...shown };
const capabilities: Required<ServerCapabilities> = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
  experimental: { future: {} },
  extensions: { future: {} },
};

type Row = readonly [definition: string, model: object, word: (revision: Revision, model: never) => unknown];
const row = <T extends object>(definition: string, model: T, word: (revision: Revision, model: T) => unknown): Row => [
  definition,
  model,
  word,
];

const first = (list: unknown): unknown => (list as unknown[] | undefined)?.[0];
const sentBlock = (revision: Revision, block: ContentBlock) =>
  first(revision.toolResult({ content: [block] }, tool)['content']) as JsonObject;
const sentMessage = (revision: Revision, message: PromptMessage) =>
  first(revision.promptResult({ messages: [message] })['messages']) as JsonObject;

/** Each kind of object: its definition in the schema, and its encoding in every place. */
const ROWS: readonly Row[] = [
  row('Tool', tool, (by, model) => by.tool(model)),
  row('ToolAnnotations', hints, (by, model) => by.tool({ ...tool, annotations: model })['annotations']),
  row('Icon', icon, (by, model) => first(by.tool({ ...tool, icons: [model] })['icons'])),
  row('Prompt', prompt, (by, model) => by.prompt(model)),
  row('PromptArgument', argument, (by, model) => first(by.prompt({ ...prompt, arguments: [model] })['arguments'])),
  row('Resource', resource, (by, model) => by.resource(model)),
  row('Annotations', annotations, (by, model) => by.resource({ ...resource, annotations: model })['annotations']),
  row('ResourceTemplate', template, (by, model) => by.resourceTemplate(model)),
  row('CallToolResult', toolResult, (by, model) => by.toolResult(model, tool)),
  ...Object.entries(BLOCKS).map(([definition, block]) => row<ContentBlock>(definition, block, sentBlock)),
  row(
    'Annotations',
    annotations,
    (by, model) => sentBlock(by, { ...BLOCKS.ImageContent, annotations: model })['annotations'],
  ),
  row(
    'TextResourceContents',
    text,
    (by, model) => sentBlock(by, { ...BLOCKS.EmbeddedResource, resource: model })['resource'],
  ),
  row('GetPromptResult', promptResult, (by, model) => by.promptResult(model)),
  row('PromptMessage', messages[0] as PromptMessage, sentMessage),
  row('ImageContent', BLOCKS.ImageContent, (by, model) => sentMessage(by, { role: 'user', content: model })['content']),
  row('ReadResourceResult', readResult, (by, model) => by.readResult(model)),
  row('BlobResourceContents', blob, (by, model) => first(by.readResult({ contents: [model] })['contents'])),
  row('Implementation', server, (by, model) => by.implementation(model)),
  row('ServerCapabilities', capabilities, (by, model) => by.capabilities(model)),
];

/** Revisions don't define the contents of these. */
const OPAQUE = new Set(
  '_meta inputSchema outputSchema structuredContent completions logging experimental extensions'.split(' '),
);

/** Adds a field to each object that no revision has. */
function withFuture(model: unknown): unknown {
  if (Array.isArray(model)) return model.map(withFuture);
  if (typeof model !== 'object' || model === null) return model;
  const fields = Object.entries(model).map(([name, value]) => [name, OPAQUE.has(name) ? value : withFuture(value)]);
  return { ...Object.fromEntries(fields), future: 'field' };
}

describe.each(REVISIONS)('$id', (revision) => {
  const sentBy = (word: Row[2]) => (given: unknown) => word(revision, given as never);

  it('sends no unknown field', () => {
    for (const [definition, model, word] of ROWS) {
      const sent = sentBy(word);
      const given = withFuture(model);
      expect([definition, sent(given)]).toEqual([definition, sent(model)]);
      expect(JSON.stringify(sent(given)) ?? '').not.toContain('"future":"field"');
    }
  });

  it('sends all fields that its schema has', () => {
    const { definitions } = schemaOf(revision.id as Id);
    for (const [definition, model, word] of ROWS.filter(([name]) => name in definitions)) {
      const fields = Object.keys(definitions[definition]?.['properties'] as object).filter((name) => name in model);
      const sent = Object.keys(sentBy(word)(model) as object).sort();
      expect([definition, ...sent]).toEqual([definition, ...fields.sort()]);
    }
  });

  it('sends no unknown kind of content', () => {
    const block = { type: 'hologram', data: 'AA==' } as unknown as ContentBlock;
    expect(sentBlock(revision, block)).toEqual({ type: 'hologram' });
  });
});

it.each(REVISIONS.slice(-2))('$id does not copy a result that needs no conversion', (revision) => {
  const content = [{ type: 'text', text: 'a' }] as const;
  for (const result of [{ content }, { content, structuredContent: { a: 1 } }, toolResult]) {
    expect(revision.toolResult(result, tool)).toBe(result);
  }
});
