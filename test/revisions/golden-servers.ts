// The servers of the golden transcripts, each with all optional fields.
import {
  audio,
  Completion,
  Context,
  Describe,
  embedded,
  image,
  link,
  McpServer,
  type McpServerOptions,
  NoInput,
  Prompt,
  Resource,
  text,
  Tool,
  ToolError,
  toolResult,
  user,
  assistant,
} from '@decorum/core';
import { IsInt, IsOptional, IsString } from 'class-validator';

const ICON = { src: 'https://example.com/sun.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'light' } as const;
const ANNOTATIONS = { audience: ['user'], priority: 0.5, lastModified: '2025-01-12T15:00:58Z' } as const;
const META = { 'example.com/team': 'weather' };
/** Base64 of "PNG" and "WAV", enough for these tests. */
const [PNG, WAV] = ['UE5H', 'V0FW'];

const CITY = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { city: { type: 'string', description: 'Where' } },
  required: ['city'],
};
const DEGREES = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { degrees: { type: 'number' } },
  required: ['degrees'],
};

class Trip {
  @Describe({ title: 'City', description: 'Where to go' })
  @IsString()
  city!: string;

  @IsOptional()
  @IsInt()
  days?: number;
}

class City {
  @IsString()
  city!: string;
}

class Lists {
  @Tool({
    title: 'Weather forecast',
    description: 'Tells the weather',
    icons: [ICON],
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    _meta: META,
    input: CITY,
    output: DEGREES,
  })
  forecast() {
    return { degrees: 21.5 };
  }

  @Tool({ description: 'Lists primes', output: { type: 'array', items: { type: 'integer' } } })
  primes() {
    return [2, 3, 5];
  }

  @Prompt({ title: 'Pack a bag', description: 'What to take along', icons: [ICON], _meta: META })
  pack({ city }: Trip) {
    return `What do I need in ${city}?`;
  }

  @Resource('docs://readme', {
    name: 'readme',
    title: 'Read me',
    description: 'Read this first',
    icons: [ICON],
    mimeType: 'text/markdown',
    size: 7,
    annotations: ANNOTATIONS,
    _meta: META,
  })
  readme() {
    return '# Hello';
  }

  @Resource('weather://{city}', {
    name: 'weather',
    title: 'Weather by city',
    description: 'The weather of a city',
    icons: [ICON],
    mimeType: 'application/json',
    annotations: ANNOTATIONS,
    _meta: META,
  })
  weather({ city }: City) {
    return { city, degrees: 21.5 };
  }

  @Completion({ for: ['pack', 'weather'], argument: 'city' })
  cities(value: string) {
    return ['Oslo', 'Ottawa', 'Paris'].filter((city) => city.startsWith(value));
  }
}

class Contents {
  @Tool()
  everything() {
    return [
      text('Hello', { annotations: ANNOTATIONS, _meta: META }),
      image(PNG, 'image/png', { annotations: ANNOTATIONS, _meta: META }),
      audio(WAV, 'audio/wav', { annotations: ANNOTATIONS, _meta: META }),
      embedded({ uri: 'docs://readme', mimeType: 'text/markdown', data: '# Hello', annotations: ANNOTATIONS }),
      embedded({ uri: 'docs://logo', mimeType: 'image/png', data: Buffer.from(PNG, 'base64'), _meta: META }),
      link('docs://manual', {
        name: 'manual',
        title: 'The manual',
        description: 'All of it',
        mimeType: 'text/markdown',
        size: 1234,
        icons: [ICON],
        annotations: ANNOTATIONS,
        _meta: META,
      }),
    ];
  }

  @Tool({ output: DEGREES })
  structured() {
    return { degrees: 21.5 };
  }

  @Tool({ output: { type: 'array', items: { type: 'integer' } } })
  primes() {
    return [2, 3, 5];
  }

  @Tool()
  complete() {
    return toolResult({ content: 'Done', structuredContent: { done: true }, _meta: META });
  }

  @Tool()
  nothing() {}

  @Prompt({ description: 'All kinds of content' })
  conversation() {
    return [
      user(text('Hello', { annotations: ANNOTATIONS })),
      assistant(image(PNG, 'image/png')),
      user(audio(WAV, 'audio/wav')),
      assistant(embedded({ uri: 'docs://readme', mimeType: 'text/markdown', data: '# Hello', _meta: META })),
      user(link('docs://manual', { name: 'manual', mimeType: 'text/markdown' })),
    ];
  }

  @Resource('docs://folder', { mimeType: 'inode/directory' })
  folder() {
    return [
      { uri: 'docs://folder/a', mimeType: 'text/plain', text: 'A', _meta: META },
      { uri: 'docs://folder/b', mimeType: 'image/png', blob: PNG },
    ];
  }
}

class Failures {
  @Tool({ input: CITY })
  refuses() {
    throw new ToolError('There is no weather today.');
  }

  @Prompt()
  breaks(): string {
    throw new Error('the database at 10.0.0.1 is down');
  }

  @Prompt()
  pack({ city }: Trip) {
    return city;
  }

  @Resource('docs://readme')
  readme() {
    return '# Hello';
  }

  @Completion({ for: 'pack', argument: 'city' })
  cities() {
    return [];
  }
}

class Choices {
  readonly form = {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name', minLength: 2, default: 'Ada' },
      age: { type: 'integer', minimum: 0, default: 30 },
      news: { type: 'boolean', default: true },
      size: {
        type: 'string',
        oneOf: [
          { const: 's', title: 'Small' },
          { const: 'l', title: 'Large' },
        ],
      },
      days: { type: 'array', items: { type: 'string', enum: ['sat', 'sun'] } },
    },
    required: ['name'],
  };

  @Tool()
  async elicit(_input: NoInput, ctx: Context) {
    return JSON.stringify(await ctx.elicit(this.form, { message: 'Who are you?' }));
  }

  @Tool()
  async visit(_input: NoInput, ctx: Context) {
    return await ctx.elicitUrl({ message: 'Please sign in', url: 'https://example.com/sign-in' });
  }

  @Tool()
  async sample(_input: NoInput, ctx: Context) {
    const { text: said } = await ctx.sample({
      messages: [user('Rhyme on sun'), assistant('Fun'), user(image(PNG, 'image/png', { annotations: ANNOTATIONS }))],
      systemPrompt: 'Be brief',
      maxTokens: 20,
      temperature: 0.5,
      stopSequences: ['.'],
      modelPreferences: { hints: [{ name: 'small' }, { name: 'large' }], costPriority: 1, speedPriority: 0.5 },
      includeContext: 'none',
    });
    return said;
  }

  @Tool()
  async roots(_input: NoInput, ctx: Context) {
    return (await ctx.roots()).map(({ uri, name }) => `${name} at ${uri}`).join();
  }

  @Tool()
  async impatient(_input: NoInput, ctx: Context) {
    await ctx.sample({ messages: 'Anybody?', maxTokens: 1, timeoutMs: 10 });
  }

  @Tool()
  async alive(_input: NoInput, ctx: Context) {
    await ctx.ping();
    return 'alive';
  }
}

class Events {
  server!: McpServer;

  @Tool()
  log(_input: NoInput, ctx: Context) {
    ctx.log.info({ step: 1 }, 'weather');
    ctx.log.error('No connection');
  }

  @Tool()
  progress(_input: NoInput, ctx: Context) {
    ctx.progress(0.5);
    ctx.progress(1, 2, 'Half way');
  }

  @Tool()
  extend() {
    this.server.addProvider(Contents);
  }

  @Tool()
  update() {
    this.server.notify.resourceUpdated('docs://readme');
  }

  @Resource('docs://readme')
  readme() {
    return '# Hello';
  }
}

const INFO: McpServerOptions = {
  name: 'golden',
  version: '1.2.3',
  title: 'Golden server',
  description: 'Says what is expected',
  icons: [ICON],
  websiteUrl: 'https://example.com/golden',
  instructions: 'Ask for the weather.',
  logger: { warn() {}, error() {} },
};

function withEvents(): McpServer {
  const events = new Events();
  const server = new McpServer({ ...INFO, providers: [events] });
  events.server = server;
  return server;
}

const SERVERS = {
  lists: () => new McpServer({ ...INFO, providers: [Lists] }),
  pages: () => new McpServer({ ...INFO, providers: [Lists], pageSize: 1 }),
  contents: () => new McpServer({ ...INFO, providers: [Contents] }),
  failures: () => new McpServer({ ...INFO, providers: [Failures] }),
  questions: () => new McpServer({ ...INFO, providers: [Choices] }),
  events: withEvents,
} satisfies Record<string, () => McpServer>;

/** Name of a golden server. */
export type GoldenName = keyof typeof SERVERS;

/** Creates a golden server. */
export function golden(name: GoldenName): McpServer {
  return SERVERS[name]();
}
