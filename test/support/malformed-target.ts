import { Completion, Context, McpServer, type McpServerOptions, NoInput, Prompt, Resource, Tool } from '@decorum/core';
import { newestOf } from '@decorum/core/internal';
import { IsArray, IsInt, IsOptional, IsString, MaxLength } from 'class-validator';

// The server that receives the malformed messages, and valid messages to mutate.

class Sum {
  @IsInt() a!: number;
  @IsInt() b!: number;
}

class Place {
  @IsString() @MaxLength(80) city!: string;
}

class Trip extends Place {
  @IsOptional() @IsArray() @IsString({ each: true }) stops?: string[];
}

class Target {
  @Tool({ description: 'Adds' })
  add({ a, b }: Sum) {
    return String(a + b);
  }

  @Tool({ description: 'Plans a trip' })
  async trip({ city, stops }: Trip, ctx: Context) {
    ctx.log.info('planning');
    ctx.progress(1, 2);
    return { city, stops: stops?.length ?? 0 };
  }

  @Tool({ description: 'Takes anything', input: { type: 'object' } })
  echo(input: object) {
    return JSON.stringify(input).length;
  }

  @Tool({ description: 'Asks the client' })
  async ask(_input: NoInput, ctx: Context) {
    return (await ctx.sample({ messages: 'Hello', maxTokens: 1 })).text;
  }

  @Resource('weather://{city}', { list: 'stations' })
  weather({ city }: Place) {
    return `Fine in ${city}`;
  }

  @Resource('docs://readme')
  readme() {
    return 'Read me';
  }

  stations() {
    return [{ variables: { city: 'Oslo' } }];
  }

  @Prompt({ description: 'What to pack' })
  pack({ city }: Place) {
    return `What do I need in ${city}?`;
  }

  @Completion({ for: ['pack', 'weather'], argument: 'city' })
  city(typed: string) {
    return ['Oslo', 'Odense'].filter((city) => city.startsWith(typed));
  }
}

/** A server with one member of each kind. All calls end immediately. */
export function malformedTarget(options: Partial<McpServerOptions> = {}): McpServer {
  return new McpServer({ name: 'target', version: '1.0.0', providers: [Target], ...options });
}

const REQUESTS = [
  ['tools/list', {}],
  ['tools/call', { name: 'add', arguments: { a: 1, b: 2 } }],
  ['tools/call', { name: 'trip', arguments: { city: 'Oslo', stops: ['Hamar'] }, _meta: { progressToken: 'p1' } }],
  ['tools/call', { name: 'echo', arguments: { any: { thing: [1, 'two', null] } } }],
  ['tools/call', { name: 'ask', arguments: {} }],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'weather://Oslo' }],
  ['resources/read', { uri: 'docs://readme' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'pack', arguments: { city: 'Oslo' } }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'pack' }, argument: { name: 'city', value: 'O' } }],
  [
    'completion/complete',
    {
      ref: { type: 'ref/resource', uri: 'weather://{city}' },
      argument: { name: 'city', value: 'O' },
      context: { arguments: { country: 'no' } },
    },
  ],
] as const;

const OF_SESSIONS = [
  [
    'initialize',
    { protocolVersion: newestOf('stateful').id, capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  ],
  ['ping', {}],
  ['logging/setLevel', { level: 'info' }],
  ['resources/subscribe', { uri: 'weather://Oslo' }],
  ['resources/unsubscribe', { uri: 'weather://Oslo' }],
] as const;

const OTHERS = [
  { method: 'notifications/initialized' },
  { method: 'notifications/cancelled', params: { requestId: 'm1', reason: 'why not' } },
  { method: 'notifications/roots/list_changed' },
  { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
  { id: 's1', result: { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' } },
  { id: 's1', error: { code: -1, message: 'No' } },
];

/** Valid messages for `malformedTarget` from a client with a session. */
export const SESSION_MESSAGES: readonly object[] = [
  ...[...REQUESTS, ...OF_SESSIONS].map(([method, params], index) => ({ id: index, method, params })),
  ...OTHERS,
].map((message) => ({ jsonrpc: '2.0', ...message }));

/** The same messages for a stateless client. */
export const STATELESS_MESSAGES: readonly object[] = [...REQUESTS, ['server/discover', {}] as const].map(
  ([method, params], index) => ({
    jsonrpc: '2.0',
    id: index,
    method,
    params: {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': newestOf('stateless').id,
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
        'io.modelcontextprotocol/logLevel': 'info',
        progressToken: index,
      },
    },
  }),
);
