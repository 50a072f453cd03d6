/** The fields of a revision by kind of object. */
export type ModelFields = Readonly<Record<string, readonly string[]>>;

/** Adds new fields to those of the previous revision. */
function extend(before: ModelFields, added: ModelFields): ModelFields {
  const merged = Object.entries(added).map(([kind, fields]) => [kind, [...(before[kind] ?? []), ...fields]]);
  return { ...before, ...Object.fromEntries(merged) };
}

/** The fields of revision 2024-11-05. */
export const FIELDS_20241105: ModelFields = {
  tool: ['name', 'description', 'inputSchema'],
  prompt: ['name', 'description', 'arguments'],
  argument: ['name', 'description', 'required'],
  resource: ['uri', 'name', 'description', 'mimeType', 'size', 'annotations'],
  template: ['uriTemplate', 'name', 'description', 'mimeType', 'annotations'],
  toolResult: ['content', 'isError', '_meta'],
  promptResult: ['description', 'messages', '_meta'],
  message: ['role', 'content'],
  readResult: ['contents', '_meta'],
  contents: ['uri', 'mimeType', 'text', 'blob'],
  text: ['type', 'text', 'annotations'],
  image: ['type', 'data', 'mimeType', 'annotations'],
  embedded: ['type', 'resource', 'annotations'],
  annotations: ['audience', 'priority'],
  implementation: ['name', 'version'],
  capabilities: ['tools', 'prompts', 'resources', 'logging', 'experimental'],
  listCapability: ['listChanged'],
  resourceCapability: ['listChanged', 'subscribe'],
};

/** The fields of revision 2025-03-26. */
export const FIELDS_20250326: ModelFields = extend(FIELDS_20241105, {
  tool: ['annotations'],
  hints: ['title', 'readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'],
  audio: ['type', 'data', 'mimeType', 'annotations'],
  capabilities: ['completions'],
});

/** The fields of revision 2025-06-18. */
export const FIELDS_20250618: ModelFields = extend(FIELDS_20250326, {
  tool: ['title', 'outputSchema', '_meta'],
  prompt: ['title', '_meta'],
  argument: ['title'],
  resource: ['title', '_meta'],
  template: ['title', '_meta'],
  toolResult: ['structuredContent'],
  contents: ['_meta'],
  text: ['_meta'],
  image: ['_meta'],
  audio: ['_meta'],
  embedded: ['_meta'],
  link: ['type', 'uri', 'name', 'title', 'description', 'mimeType', 'size', 'annotations', '_meta'],
  annotations: ['lastModified'],
  implementation: ['title'],
});

/** The fields of revision 2025-11-25. */
export const FIELDS_20251125: ModelFields = extend(FIELDS_20250618, {
  tool: ['icons'],
  prompt: ['icons'],
  resource: ['icons'],
  template: ['icons'],
  link: ['icons'],
  icon: ['src', 'mimeType', 'sizes', 'theme'],
  implementation: ['description', 'icons', 'websiteUrl'],
});

/** The fields of revision 2026-07-28. */
export const FIELDS_20260728: ModelFields = extend(FIELDS_20251125, { capabilities: ['extensions'] });
