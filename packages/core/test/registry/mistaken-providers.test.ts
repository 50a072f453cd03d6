import { EventEmitter } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import {
  McpServer,
  type McpServerOptions,
  type ProviderSource,
  Resource,
  type StartupErrorCode,
  Tool,
} from '@decorum/core';
import { connect } from '@decorum/testing';

class Clock {
  @Tool()
  now() {
    return 'noon';
  }

  @Resource('clock://now')
  face() {
    return 'noon';
  }
}

class Api {
  readonly url = 'https://api.example';
}

class Weather {
  constructor(private readonly api: Api) {}

  @Tool()
  today() {
    return this.api.url;
  }
}

const start = (providers: unknown, options?: Partial<McpServerOptions>) => () =>
  new McpServer({ name: 'test', version: '1', ...options, providers: providers as ProviderSource[] });

/** Expects a message that contains `named` and ends with the remedy. */
function expectMistake(run: () => void, code: StartupErrorCode, [...named]: string[], ending: string): void {
  expect(run).toThrow(expect.objectContaining({ code }));
  for (const text of named) expect(run).toThrow(text);
  expect(run).toThrow(`${ending} [${code}]`);
}

describe('a class whose constructor takes arguments, without `resolve`,', () => {
  const ending = 'If the arguments are optional, give them default values.';

  it('fails at startup, and suggests to pass an instance', () => {
    const remedies = ['The constructor of Weather takes an argument', '`providers: [new Weather(…)]`', '`resolve`'];
    expectMistake(start([Weather]), 'DECORUM_CONSTRUCTOR_ARGUMENTS', remedies, ending);
    expectMistake(start([{ provider: Weather, prefix: 'a_' }]), 'DECORUM_CONSTRUCTOR_ARGUMENTS', remedies, ending);
    const scoped = start([{ provider: Weather, scope: 'request' }]);
    expectMistake(scoped, 'DECORUM_CONSTRUCTOR_ARGUMENTS', remedies, ending);
  });

  it('fails too if a base class has the constructor', () => {
    class Local extends Weather {}
    expectMistake(start([Local]), 'DECORUM_CONSTRUCTOR_ARGUMENTS', ['Local takes an argument'], ending);
  });

  it('is served if it extends a class that is built in', () => {
    class Feed extends EventEmitter {
      @Tool()
      subscribers() {
        return this.listenerCount('news');
      }
    }
    expect(start([Feed])).not.toThrow();
  });

  it('is served if the arguments have defaults, or a subclass passes them', () => {
    class Lenient {
      constructor(readonly zone = 'UTC') {}
      @Tool()
      zoneName() {
        return this.zone;
      }
    }
    class Local extends Weather {
      constructor() {
        super(new Api());
      }
    }
    expect(start([Lenient, Local])).not.toThrow();
  });

  it('is served with `resolve`, and as an instance', () => {
    expect(start([Weather], { resolve: () => new Weather(new Api()) })).not.toThrow();
    expect(start([new Weather(new Api())])).not.toThrow();
  });
});

describe('`providers`', () => {
  it('must not contain a promise', () => {
    const ending = 'Await it: `providers: [await Files.create()]`.';
    expectMistake(start([Promise.resolve(new Clock())]), 'DECORUM_BAD_PROVIDER', ['a promise'], ending);
    const entry = { provider: Promise.resolve(new Clock()), prefix: 'a_' };
    expectMistake(start([entry]), 'DECORUM_BAD_PROVIDER', ['a promise'], ending);
  });

  it('must not contain a server, whose own providers and options would be lost', () => {
    class Office extends McpServer {
      constructor() {
        super({ name: 'office', version: '1', providers: [Clock] });
      }
      @Tool()
      open() {}
    }
    const ending = '`{ provider: Calendar, prefix }`.';
    const plain = new McpServer({ name: 'inner', version: '1', providers: [Clock] });
    expectMistake(start([plain]), 'DECORUM_BAD_PROVIDER', ['the server McpServer', 'List what it serves'], ending);
    expectMistake(start([{ provider: plain, prefix: 'a_' }]), 'DECORUM_BAD_PROVIDER', ['the server McpServer'], ending);
    expectMistake(start([new Office()]), 'DECORUM_BAD_PROVIDER', ['the server Office'], ending);
    expectMistake(start([Office]), 'DECORUM_BAD_PROVIDER', ['the server Office'], ending);
  });

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['Clock', 'Clock'],
    [() => Clock, 'the function'],
    [{ provdier: Clock, prefix: 'a_' }, 'an object with the keys "provdier", "prefix"'],
    [{}, 'an object with the keys (none)'],
    [Object.create(null), 'an object with the keys (none)'],
    [{ provider: undefined, prefix: 'a_' }, 'undefined'],
    [{ provider: Object.create(null), prefix: 'a_' }, 'an object with the keys (none)'],
  ])('must not contain %p', (source, found) => {
    const ending = 'List classes, ready instances, or { provider, prefix }.';
    expectMistake(start([source]), 'DECORUM_BAD_PROVIDER', [found], ending);
  });

  it('must be a list', () => {
    for (const providers of [Clock, new Clock(), 'Clock']) {
      expectMistake(
        start(providers),
        'DECORUM_INVALID_OPTION',
        ['McpServer: `providers`'],
        'Write `providers: [Shop]`.',
      );
    }
  });

  it.each([
    [{ prefx: 'a_' }, '`prefx` is not an option. Write `prefix`.'],
    [{ prefix: 5 }, "`prefix` must be a string. Write `prefix: 'eu_'`, for example."],
    [{ uriPrefix: 'eu/' }, "Write `uriPrefix: 'eu+'`, for example."],
    [{ uriPrefix: 'x://' }, "Write `uriPrefix: 'eu+'`, for example."],
    [{ uriPrefix: '{a}' }, "Write `uriPrefix: 'eu+'`, for example."],
    [{ uriPrefix: 5 }, "Write `uriPrefix: 'eu+'`, for example."],
    [{ scope: 'session' }, "`scope` must be 'request'. Remove it to share one instance."],
  ])('holds no entry with %j', (options, ending) => {
    expectMistake(start([{ provider: Clock, ...options }]), 'DECORUM_INVALID_OPTION', ['Clock: `'], ending);
  });

  it('treats an undefined `prefix` as none', async () => {
    const client = await connect(start([{ provider: Clock, prefix: undefined }])());
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['now']);
  });
});

describe('a class with resources', () => {
  it('can be served twice with two URI prefixes', async () => {
    const server = start([Clock, { provider: Clock, prefix: 'eu_', uriPrefix: 'eu+' }])();
    const client = await connect(server);
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual(['clock://now', 'eu+clock://now']);
    expect((await client.readResource('eu+clock://now')).contents).toMatchObject([{ uri: 'eu+clock://now' }]);
  });

  it('has its templates, their entries and completions under the prefix', async () => {
    class Cities {
      @Resource('city://{name}', { list: 'all', input: { type: 'object', properties: { name: { type: 'string' } } } })
      one({ name }: { name: string }) {
        return `of ${name}`;
      }
      all() {
        return [{ variables: { name: 'Oslo' } }];
      }
    }
    const eu = { provider: Cities, prefix: 'eu_', uriPrefix: 'eu+' };
    const client = await connect(start([Cities, { provider: eu, prefix: 'x_', uriPrefix: 'x-' }])());
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual(['city://Oslo', 'x-eu+city://Oslo']);
    const templates = await client.listResourceTemplates();
    expect(templates.map(({ name, uriTemplate }) => [name, uriTemplate])).toEqual([
      ['one', 'city://{name}'],
      ['x_eu_one', 'x-eu+city://{name}'],
    ]);
    expect((await client.readResource('x-eu+city://Rome')).contents).toMatchObject([{ text: 'of Rome' }]);
  });

  it('cannot be served twice without one, and fails at startup', () => {
    const ending = "or its provider a `uriPrefix`: `{ provider, prefix: 'eu_', uriPrefix: 'eu+' }`.";
    const run = start([Clock, { provider: Clock, prefix: 'eu_' }]);
    expectMistake(run, 'DECORUM_DUPLICATE_NAME', ['clock://now', 'Clock.face'], ending);
  });
});
