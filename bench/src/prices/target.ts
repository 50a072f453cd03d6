import { Completion, Context, McpServer, needInput, NoInput, Prompt, Resource, Tool } from '@decorum/core';
import { IsIn, IsOptional, IsString, Matches, MaxLength } from 'class-validator';

import { Customs, Formats, Lists, Transforms, Unions } from './target-dtos.js';
import { DRAFT_07, OBJECTS, RECURSIVE, TEXTS } from './target-schemas.js';
import { ARKTYPE, VALIBOT, ZOD } from './target-standard.js';

const FORM = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 50 },
    email: { type: 'string', format: 'email' },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    color: { type: 'string', enum: ['red', 'green'] },
    tags: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, maxItems: 3 },
  },
  required: ['name'],
};

class Place {
  @IsString() @MaxLength(100) city!: string;
  @IsOptional() @IsIn(['metric', 'imperial']) units?: string;
  @IsOptional() @Matches(/^[a-z]+(?:-[a-z]+)*$/) slug?: string;
}

class Path {
  @IsString() path!: string;
}

class Page {
  @IsString() host!: string;
  @IsOptional() @IsString() path?: string;
  @IsOptional() @IsString() q?: string;
}

class Desk {
  @Tool({ description: 'Asks the user' })
  async ask(_input: NoInput, ctx: Context) {
    const { action } = await ctx.elicit(FORM, { message: 'Who are you?', key: 'who' });
    return action;
  }

  @Tool({ description: "Asks the client's model" })
  async sample(_input: NoInput, ctx: Context) {
    const { text } = await ctx.sample({ messages: 'Say hello', maxTokens: 10, key: 'hello' });
    return text;
  }

  @Tool({ description: 'Asks where the client works' })
  async roots(_input: NoInput, ctx: Context) {
    return (await ctx.roots({ key: 'roots' })).length;
  }

  @Tool({ description: 'Asks by returning' })
  where(_input: NoInput, ctx: Context) {
    if (!ctx.answers) return needInput({ roots: { method: 'roots/list' } }, { since: 1 });
    return Object.keys(ctx.answers).length;
  }

  @Tool({ description: 'Logs what it is told' })
  log({ path }: Path, ctx: Context) {
    ctx.log.warning(path);
    return path.length;
  }

  @Tool({ description: 'Gives a text back' })
  echo({ path }: Path) {
    return path;
  }

  @Resource('docs://readme')
  readme() {
    return 'Read me.';
  }

  @Resource('files://{+path}')
  file({ path }: Path) {
    return path.length;
  }

  @Resource('pages://{host}{/path}{?q}')
  page({ host }: Page) {
    return host.length;
  }

  @Resource('lists://{city}/{units}/{slug}')
  list({ city }: Place) {
    return city.length;
  }

  @Prompt({ description: 'What to pack' })
  pack({ city }: Place) {
    return `What should I pack for ${city}?`;
  }

  @Completion({ for: ['pack', 'list'], argument: 'city' })
  cities(typed: string) {
    return ['Oslo', 'Odense'].filter((city) => city.startsWith(typed));
  }
}

/** Tools by name, with the source of their schema. */
const INPUTS = {
  formats: Formats,
  lists: Lists,
  unions: Unions,
  transforms: Transforms,
  customs: Customs,
  texts: TEXTS,
  objects: OBJECTS,
  recursive: RECURSIVE,
  draft: DRAFT_07,
  zod: ZOD,
  valibot: VALIBOT,
  arktype: ARKTYPE,
} as const;

/** The tools whose arguments the search attacks, each once as is and once with `coerce`. */
export const ATTACKED: readonly string[] = Object.keys(INPUTS).flatMap((name) => [name, `${name}_coerced`]);

/** Number of templates with the same prefix. */
export const SIBLINGS = 40;

/** Templates with one prefix, all of which may have to read a whole URI. */
const siblings = () =>
  Array.from({ length: SIBLINGS }, (_, index) => {
    class Item {
      @Resource(`items://{+path}/edit${index}{?q}`)
      read() {
        return 'An item';
      }
    }
    return Item;
  });

/** Creates a server whose members use every feature of schemas, templates and questions. It doesn't log. */
export function createTarget(): McpServer {
  const silent = { warn() {}, error() {} };
  const server = new McpServer({
    name: 'target',
    version: '1.0.0',
    providers: [Desk, ...siblings()],
    pageSize: 5,
    logger: silent,
  });
  for (const [name, input] of Object.entries(INPUTS)) {
    for (const coerce of [false, true]) {
      const tool = { name: coerce ? `${name}_coerced` : name, description: `Takes ${name}`, coerce };
      server.addTool({ ...tool, input }, () => 'taken');
    }
  }
  return server;
}
