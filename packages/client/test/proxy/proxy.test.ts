import { afterEach, describe, expect, it } from '@jest/globals';
import { type Client, type ClientOptions, connectClient, proxy, type ProxyOptions } from '@decorum/client';
import { Completion, link, McpServer, type McpServerOptions, Prompt, Resource, ToolError, Tool } from '@decorum/core';
import { listen } from '@decorum/http';
import { revisions } from '@decorum/testing';
import { IsString } from 'class-validator';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

const keep = <T extends { close(): Promise<void> }>(each: T): T => {
  open.push(each);
  return each;
};

class Place {
  @IsString() name!: string;
}

class Geo {
  @Tool({ description: 'Finds a place' })
  locate({ name }: Place) {
    if (name === 'Atlantis') throw new ToolError('It has sunk.');
    return link('geo://maps/9', { name });
  }

  @Resource('geo://maps/1', { description: 'A map' })
  first() {
    return 'the first map';
  }

  @Resource('geo://maps/{name}', { description: 'Any map' })
  map({ name }: Place) {
    return `the map ${name}`;
  }

  @Prompt({ description: 'Asks for a route' })
  route({ name }: Place) {
    return `How do I get to ${name}?`;
  }

  @Completion({ for: ['route', 'map'], argument: 'name' })
  names(value: string) {
    return ['Oslo', 'Osaka', 'Rome'].filter((name) => name.startsWith(value));
  }
}

const upstreamOf = (options: Partial<McpServerOptions> = {}) =>
  new McpServer({ name: 'geo', version: '1.0.0', providers: [Geo], instructions: 'Obey me.', ...options });

interface Setup {
  readonly options?: ProxyOptions;
  readonly client?: ClientOptions;
  readonly upstream?: McpServer;
}

/** A client of a server with a proxy of an upstream, all over HTTP. */
async function behindProxy({
  options = { prefix: 'geo' },
  client,
  upstream = upstreamOf(),
}: Setup = {}): Promise<Client> {
  const { url } = await listen(upstream, { port: 0 });
  keep(upstream);
  const front = keep(new McpServer({ name: 'front', version: '1.0.0', providers: [proxy(url, options)] }));
  return keep(await connectClient((await listen(front, { port: 0 })).url, client));
}

describe.each(revisions)('behind a proxy, a client of %s', (revision) => {
  const client = { revision };

  it('lists members under the prefix', async () => {
    const behind = await behindProxy({ client });
    expect((await behind.listTools()).map(({ name }) => name)).toEqual(['geo_locate']);
    expect((await behind.listPrompts()).map(({ name }) => name)).toEqual(['geo_route']);
    expect((await behind.listResources()).map(({ uri }) => uri)).toEqual(['geo://geo/maps/1']);
    expect((await behind.listResourceTemplates()).map(({ uriTemplate }) => uriTemplate)).toEqual([
      'geo://geo/maps/{name}',
    ]);
  });

  it('calls, reads, gets and completes', async () => {
    const behind = await behindProxy({ client });
    expect(await behind.callTool('geo_locate', { name: 'Atlantis' })).toMatchObject({
      isError: true,
      content: [{ text: 'It has sunk.' }],
    });
    expect(await behind.readResource('geo://geo/maps/7')).toMatchObject({
      contents: [{ uri: 'geo://geo/maps/7', text: 'the map 7' }],
    });
    expect(await behind.getPrompt('geo_route', { name: 'Oslo' })).toMatchObject({
      messages: [{ content: { text: 'How do I get to Oslo?' } }],
    });
    expect(await behind.complete({ prompt: 'geo_route' }, { name: 'name', value: 'Os' })).toMatchObject({
      values: ['Oslo', 'Osaka'],
    });
    expect(await behind.complete({ resource: 'geo://geo/maps/{name}' }, { name: 'name', value: 'R' })).toMatchObject({
      values: ['Rome'],
    });
  });

  it('can read what a result links to', async () => {
    const behind = await behindProxy({ client });
    const result = await behind.callTool('geo_locate', { name: 'Oslo' });
    expect(JSON.stringify(result)).toContain('geo://geo/maps/9');
    expect(await behind.readResource('geo://geo/maps/9')).toMatchObject({ contents: [{ text: 'the map 9' }] });
  });
});

it.each(['127.0.0.1:3000/mcp', 'server.js', 'ftp://example.com/mcp'])('refuses %s, which is no URL', (target) => {
  expect(() => proxy(target)).toThrow('which is not a URL');
});

it('leaves names and URIs as they are without a prefix', async () => {
  const behind = await behindProxy({ options: {} });
  expect((await behind.listTools()).map(({ name }) => name)).toEqual(['locate']);
  expect(await behind.readResource('geo://maps/1')).toMatchObject({ contents: [{ uri: 'geo://maps/1' }] });
});

it('does not forward instructions unless told', async () => {
  expect((await behindProxy()).instructions).toBeUndefined();
  expect((await behindProxy({ options: { instructions: true } })).instructions).toBe('Obey me.');
});
