import { readFileSync } from 'node:fs';

import { Allow, IsIn, IsInt, IsNotEmpty, IsOptional, MaxLength, ValidateIf, ValidateNested } from 'class-validator';
import { ArrayOf, Choices, type Class, DateOnly, NoInput, RecordOf, Schema, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';
import { Type } from 'class-transformer';

import { type Behaviour, codeOf, serverOf } from './table.js';

const manifest = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../packages/${name}/package.json`, import.meta.url), 'utf8'));

/** A server with a tool `echo`, which takes this class and returns its input as text. */
function echoing(cls: Class, options: object = {}) {
  class Echo {
    @Tool({ input: cls }) echo(input: object) {
      return Object.entries(input).map(([key, value]) => `${key}: ${value?.constructor.name} ${String(value)}`);
    }
  }
  return serverOf([Echo], options);
}

/** The published schema of the first field of a class. */
async function published(cls: Class): Promise<unknown> {
  const [tool] = await (await connect(echoing(cls))).listTools();
  return Object.values(tool?.inputSchema['properties'] ?? {})[0];
}

/** The input that the handler gets, or the error that the model reads if the arguments are invalid. */
async function received(cls: Class, args: object, options: object = {}): Promise<unknown> {
  const { content } = await (await connect(echoing(cls, options))).callTool('echo', args);
  const [block] = content;
  return block?.type === 'text' ? block.text : block;
}

class Bytes {
  @Allow() data!: Uint8Array;
}

class Big {
  @Allow() count!: bigint;
}

class Post {
  @ArrayOf(String) @MaxLength(20, { each: true }) tags!: string[];
}

class Prices {
  @RecordOf(Number) byCurrency!: Record<string, number>;
}

class Unit {
  @Choices({ c: 'Celsius', f: 'Fahrenheit' }) unit!: 'c' | 'f';
}

class Day {
  @DateOnly() day!: string;
}

class Own {
  @Schema({ anyOf: [{ type: 'string' }, { type: 'integer' }] }) id!: string | number;
}

class Circle {
  @IsInt() radius!: number;
}

class Square {
  @IsInt() side!: number;
}

class Drawing {
  @ValidateNested()
  @Type(() => Object, {
    discriminator: {
      property: 'kind',
      subTypes: [
        { name: 'circle', value: Circle },
        { name: 'square', value: Square },
      ],
    },
  })
  shape!: Circle | Square;
}

class Conditional {
  @ValidateIf(() => true) @IsInt() count!: number;
}

class Query {
  @IsOptional() @IsIn(['metric', 'imperial']) units?: 'metric' | 'imperial';
}

/** Part 1: the schema follows from the class, or an error at startup says why it doesn't. */
export const PART_1: readonly Behaviour[] = [
  // Declarations that contradict their rules are in schema-mistakes.ts. The order of imports itself: packages/core/test/schema/lost-types.test.ts.
  [
    '1. A field whose type was lost to the order of imports is an error at startup.',
    () => {
      class Early {
        declare count: number;
      }
      IsNotEmpty()(Early.prototype, 'count');
      return codeOf(() => echoing(Early));
    },
    'DECORUM_UNKNOWN_FIELD_TYPE',
  ],
  // Bundles, CommonJS and Next: test/packaging/{bundles,commonjs,runners,next}.test.ts.
  [
    '2. Every entry of core has a module for `module-sync`, `import` and `require`, with types each.',
    () =>
      Object.values(manifest('core').exports as Record<string, Record<string, { types?: string }>>).map((entry) =>
        ['module-sync', 'import', 'require'].every((condition) => entry[condition]?.types),
      ),
    [true, true],
  ],
  ['3. Bytes travel as base64.', () => published(Bytes), { type: 'string', contentEncoding: 'base64' }],
  ['3. A handler gets bytes as bytes.', () => received(Bytes, { data: 'AQI=' }), '["data: Uint8Array 1,2"]'],
  [
    '3. A handler gets a bigint as one.',
    () => received(Big, { count: '12345678901234567890' }),
    '["count: BigInt 12345678901234567890"]',
  ],
  [
    '4. @ArrayOf publishes the type of the items.',
    () => published(Post),
    { type: 'array', items: { type: 'string', maxLength: 20 } },
  ],
  [
    '4. @RecordOf publishes the type of the values.',
    () => published(Prices),
    { type: 'object', additionalProperties: { type: 'number' } },
  ],
  [
    '4. @Choices publishes titles.',
    () => published(Unit),
    {
      type: 'string',
      oneOf: [
        { const: 'c', title: 'Celsius' },
        { const: 'f', title: 'Fahrenheit' },
      ],
    },
  ],
  ['4. @DateOnly publishes `format: date`.', () => published(Day), { type: 'string', format: 'date' }],
  ['4. @Schema is published as it is.', () => published(Own), { anyOf: [{ type: 'string' }, { type: 'integer' }] }],
  [
    '4. A union is told apart by its discriminator.',
    () => received(Drawing, { shape: { kind: 'square', side: 2 } }),
    '["shape: Square [object Object]"]',
  ],
  [
    '5. A field with a condition publishes what its other rules say.',
    () => published(Conditional),
    { anyOf: [{ type: 'integer' }, {}] },
  ],
  [
    '5. `coerce` reads "5" where an integer is due.',
    () => received(Circle, { radius: '5' }, { coerce: true }),
    '["radius: Number 5"]',
  ],
  [
    '5. Without `coerce`, "5" is no integer.',
    () => received(Circle, { radius: '5' }),
    'The arguments are not valid:\n- radius: must be an integer',
  ],
  [
    '6. A message does not offer a null that the schema hides.',
    () => received(Query, { units: 'kelvin' }),
    'The arguments are not valid:\n- units: must be one of "metric", "imperial"',
  ],
  // A server without the peers, and its errors: test/packaging/optional-peers.test.ts.
  [
    '7. class-validator and class-transformer are optional peers.',
    () => manifest('core').peerDependenciesMeta,
    { 'class-validator': { optional: true }, 'class-transformer': { optional: true } },
  ],
  // tsyringe and awilix: packages/core/test/types/containers.ts, which is compiled with the tests.
  [
    '8. `resolve` may return a promise.',
    async () => {
      class Shop {
        constructor(readonly name: string) {}
        @Tool() called() {
          return this.name;
        }
      }
      const server = serverOf([Shop], { resolve: async () => await Promise.resolve(new Shop('corner shop')) });
      return await (await connect(server)).callTool('called');
    },
    { content: [{ type: 'text', text: 'corner shop' }] },
  ],
  [
    '8. A request-scoped provider has an instance for each call.',
    async () => {
      let made = 0;
      class Shop {
        readonly number = ++made;
        @Tool() which(_input: NoInput) {
          return this.number;
        }
      }
      const client = await connect(serverOf([{ provider: Shop, scope: 'request' }]));
      await client.callTool('which');
      return await client.callTool('which');
    },
    { content: [{ type: 'text', text: '2' }] },
  ],
];
