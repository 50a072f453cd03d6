// The field matrix: the first revision of each field that a server sends. Written by hand from the specification,
// because its schemas allow unknown fields in many objects.

type Json = Record<string, unknown>;

const A = '2024-11-05';
const B = '2025-03-26';
const C = '2025-06-18';
const D = '2025-11-25';
const E = '2026-07-28';

const entry = (kind: string) => ({ [`${kind}.title`]: C, [`${kind}._meta`]: C, [`${kind}.icons`]: D });

/** The first revision of a field. Fields that are not listed exist in all revisions. */
const SINCE: Readonly<Record<string, string>> = {
  'result.resultType': E,
  'result.ttlMs': E,
  'result.cacheScope': E,
  'result.inputRequests': E,
  'result.requestState': E,
  'result.structuredContent': C,
  'serverInfo.title': C,
  'serverInfo.description': D,
  'serverInfo.icons': D,
  'serverInfo.websiteUrl': D,
  'capabilities.completions': B,
  'capabilities.tasks': D,
  'capabilities.extensions': E,
  ...entry('tool'),
  'tool.annotations': B,
  'tool.outputSchema': C,
  'tool.execution': D,
  'schema.$schema': D,
  ...entry('prompt'),
  'argument.title': C,
  ...entry('resource'),
  ...entry('template'),
  'annotations.lastModified': C,
  'text._meta': C,
  'image._meta': C,
  'audio._meta': C,
  'embedded._meta': C,
  'contents._meta': C,
  'link.icons': D,
  'progress.message': B,
  'elicitation.mode': D,
  'elicitation.url': D,
  'elicitation.elicitationId': D,
  'sampling.tools': D,
  'sampling.toolChoice': D,
  'message._meta': D,
  // content kinds
  'audio.type': B,
  'link.type': C,
  'tool_use.type': D,
  'tool_result.type': D,
};

const KINDS: Readonly<Record<string, string>> = {
  resource: 'embedded',
  resource_link: 'link',
};

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const list = (value: unknown): Json[] => (Array.isArray(value) ? value : [value]).filter(isObject);

type Found = [kind: string, object: Json];

function block(content: Json): Found[] {
  const type = String(content['type']);
  return [[KINDS[type] ?? type, content], ...annotated(content), ...list(content['resource']).map(as('contents'))];
}

const as =
  (kind: string) =>
  (object: Json): Found => [kind, object];

const annotated = (object: Json): Found[] => list(object['annotations']).map(as('annotations'));

const messages = (value: unknown): Found[] =>
  list(value).flatMap((message): Found[] => [['message', message], ...list(message['content']).flatMap(block)]);

/** The objects of a message that the matrix covers. */
function objectsOf(message: Json, method: string | undefined): Found[] {
  const params = isObject(message['params']) ? message['params'] : {};
  const result = isObject(message['result']) ? message['result'] : {};
  switch (message['method']) {
    case 'notifications/progress':
      return [['progress', params]];
    case 'elicitation/create':
      return [['elicitation', params]];
    case 'sampling/createMessage':
      return [['sampling', params], ...messages(params['messages'])];
  }
  const content = method === 'tools/call' ? list(result['content']) : [];
  return [
    ['result', result],
    ...list(result['serverInfo']).map(as('serverInfo')),
    ...list(method === 'initialize' ? result['capabilities'] : undefined).map(as('capabilities')),
    ...list(result['tools']).flatMap((tool): Found[] => [
      ['tool', tool],
      ...list(tool['inputSchema']).map(as('schema')),
      ...list(tool['outputSchema']).map(as('schema')),
    ]),
    ...list(result['prompts']).flatMap((prompt): Found[] => [
      ['prompt', prompt],
      ...list(prompt['arguments']).map(as('argument')),
    ]),
    ...list(result['resources']).flatMap((resource): Found[] => [['resource', resource], ...annotated(resource)]),
    ...list(result['resourceTemplates']).flatMap((item): Found[] => [['template', item], ...annotated(item)]),
    ...list(result['contents']).map(as('contents')),
    ...content.flatMap(block),
    ...messages(result['messages']),
  ];
}

/** The fields of a message that are newer than its revision. */
export function newerFields(revision: string, message: Json, method?: string): string[] {
  return objectsOf(message, method).flatMap(([kind, object]) =>
    Object.keys(object)
      .map((field) => `${kind}.${field}`)
      .filter((field) => (SINCE[field] ?? A) > revision)
      .map((field) => `${field} is newer than ${revision}: ${SINCE[field]}`),
  );
}
