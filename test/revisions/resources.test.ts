import { describe, expect } from '@jest/globals';
import { type Context, type JsonObject, NoInput, Resource, Tool } from '@decorum/core';
import { IsInt, IsString } from 'class-validator';

import { RawClient } from '../support/raw-client.js';
import { eachRevision } from '../support/requirements.js';
import { golden } from './golden-servers.js';
import { serverOf, serverWith } from './servers.js';

const BYTES = Buffer.from([0, 127, 255]);

class Named {
  @IsString()
  name!: string;
}

class Numbered {
  @IsInt()
  id!: number;
}

class Library {
  reads: string[] = [];

  @Resource('docs://readme')
  readme() {
    this.reads.push('readme');
    return '# Hello';
  }

  @Resource('docs://logo', { mimeType: 'image/png' })
  logo() {
    return BYTES;
  }

  @Resource('docs://data')
  data() {
    return { a: [1] };
  }

  @Resource('docs://folder', { mimeType: 'inode/directory' })
  folder() {
    return ['a', 'b'].map((name) => ({ uri: `docs://folder/${name}`, mimeType: 'text/plain', text: name }));
  }

  @Resource('docs://broken')
  broken(): string {
    throw new Error('the disk at /dev/sda1 is full');
  }

  @Resource('docs://pages/{name}')
  page({ name }: Named) {
    this.reads.push(name);
    return `page ${name}`;
  }

  @Resource('docs://pages/index')
  index() {
    return 'the index';
  }

  @Resource('docs://pages/{name}/raw')
  raw({ name }: Named) {
    return `raw ${name}`;
  }

  @Resource('docs://numbers/{id}')
  numbered({ id }: Numbered) {
    return String(id + 1);
  }
}

const library = () => serverOf({ providers: [Library] });
const read = async (client: RawClient, uri: string) =>
  ((await client.result('resources/read', { uri }))['contents'] as JsonObject[]) ?? [];

describe('the list of resources', () => {
  eachRevision('RES-01', 'is declared where there are resources', async (revision) => {
    const capabilitiesOf = async (server: ReturnType<typeof serverOf>) => {
      const client = await RawClient.connect(server, { revision, begins: false });
      return (await client.begin())['capabilities'];
    };
    const resources = { listChanged: true, subscribe: true };
    expect(await capabilitiesOf(library())).toMatchObject({ resources });
    expect(await capabilitiesOf(serverWith({ tool: () => '' }))).not.toHaveProperty('resources');
  });

  eachRevision('RES-02', 'gives each resource its URI and a name', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    const { resources } = (await client.result('resources/list')) as { resources: JsonObject[] };
    expect(resources).toHaveLength(6);
    for (const resource of resources)
      expect(resource).toMatchObject({ uri: expect.any(String), name: expect.any(String) });
  });

  eachRevision('RES-04', 'has its templates beside it', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    const { resourceTemplates } = await client.result('resources/templates/list');
    expect(resourceTemplates).toEqual([
      { uriTemplate: 'docs://pages/{name}', name: 'page' },
      { uriTemplate: 'docs://pages/{name}/raw', name: 'raw' },
      { uriTemplate: 'docs://numbers/{id}', name: 'numbered' },
    ]);
  });

  eachRevision('RES-16', 'knows directories by their type', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    const { resources } = await client.result('resources/list');
    expect(resources).toContainEqual({ uri: 'docs://folder', name: 'folder', mimeType: 'inode/directory' });
  });

  eachRevision('RES-17', 'has URIs that are absolute, and templates that are valid', async (revision) => {
    for (const uri of ['readme', '/readme', '1docs://readme', 'do_cs://readme', '://readme', 'docs:']) {
      class Wrong {
        @Resource(uri)
        readme() {
          return '';
        }
      }
      expect(() => serverOf({ providers: [Wrong] })).toThrow('DECORUM_BAD_URI');
    }
    const client = await RawClient.connect(library(), { revision });
    expect(await client.result('resources/list')).toHaveProperty('resources');
  });

  eachRevision('RES-18', 'is announced when it changes, by addition and by removal', async (revision) => {
    const server = serverWith({ tool: () => '' });
    const client = await RawClient.connect(server, { revision });
    const changed = async (times: number) => {
      await client.find(() => client.of('notifications/resources/list_changed').length === times);
      return ((await client.result('resources/list'))['resources'] as unknown[]).length;
    };
    const added = server.addProvider(Library);
    expect(await changed(1)).toBe(6);
    added.remove();
    expect(await changed(2)).toBe(0);
  });

  eachRevision('RES-24', 'has everything about a resource that the revision knows', async (revision) => {
    const client = await RawClient.connect(golden('lists'), { revision });
    const { resources } = (await client.result('resources/list')) as { resources: [JsonObject] };
    const newer = [
      ...(revision >= '2025-06-18' ? ['_meta', 'title'] : []),
      ...(revision >= '2025-11-25' ? ['icons'] : []),
    ];
    const known = ['annotations', 'description', 'mimeType', 'name', 'size', 'uri', ...newer];
    expect(Object.keys(resources[0]).sort()).toEqual(known.sort());
  });
});

describe('reading', () => {
  eachRevision('RES-05', 'gives text, or bytes in base64', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    expect(await read(client, 'docs://readme')).toEqual([
      { uri: 'docs://readme', mimeType: 'text/plain', text: '# Hello' },
    ]);
    expect(await read(client, 'docs://logo')).toEqual([
      { uri: 'docs://logo', mimeType: 'image/png', blob: BYTES.toString('base64') },
    ]);
  });

  eachRevision('RES-06', 'may give several contents', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    expect((await read(client, 'docs://folder')).map(({ uri }) => uri)).toEqual(['docs://folder/a', 'docs://folder/b']);
  });

  eachRevision('RES-07', 'what does not exist is an error with the URI', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    for (const uri of ['docs://nothing', 'docs://pages', 'file:///etc/passwd']) {
      expect(await client.error('resources/read', { uri })).toMatchObject({ code: -32002, data: { uri } });
    }
  });

  eachRevision('RES-10', 'what fails is an internal error, without details', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    const error = await client.error('resources/read', { uri: 'docs://broken' });
    expect(error).toMatchObject({ code: -32603 });
    expect(JSON.stringify(error)).not.toContain('sda1');
  });

  eachRevision('RES-11', 'takes no URI that it cannot match, and runs no handler for it', async (revision) => {
    const provider = new Library();
    const client = await RawClient.connect(serverOf({ providers: [provider] }), { revision });
    for (const params of [undefined, {}, { uri: 7 }, { uri: null }, { uri: ['docs://readme'] }]) {
      expect(await client.error('resources/read', params)).toMatchObject({ code: -32602 });
    }
    for (const uri of ['', 'docs', '://', 'gopher://readme', 'docs://pages/%zz', 'docs://readme\n', 'docs://pages/']) {
      expect([-32002, -32602]).toContain((await client.error('resources/read', { uri })).code);
    }
    expect(await client.error('resources/read', { uri: 'docs://numbers/seven' })).toMatchObject({ code: -32602 });
    expect(provider.reads).toEqual([]);
  });

  eachRevision('RES-14', 'gives back the very bytes', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    const [content] = await read(client, 'docs://logo');
    expect(Buffer.from(content?.['blob'] as string, 'base64')).toEqual(BYTES);
  });

  eachRevision('RES-26', 'finds the one handler of a URI', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    const textAt = async (uri: string) => (await read(client, uri))[0]?.['text'];
    expect(await textAt('docs://pages/index')).toBe('the index');
    expect(await textAt('docs://pages/a')).toBe('page a');
    expect(await textAt('docs://pages/a%2Fb')).toBe('page a/b');
    expect(await textAt('docs://pages/a%252Fb')).toBe('page a%2Fb');
    expect(await textAt('docs://pages/a/raw')).toBe('raw a');
    for (const uri of ['docs://pages/a/raw/more', 'xdocs://pages/a', 'docs://pages/a/b']) {
      expect(await client.error('resources/read', { uri })).toMatchObject({ code: -32002 });
    }
  });

  eachRevision('RES-27', 'gives each content a type, and text or bytes as the handler does', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    const contents = await Promise.all(['docs://readme', 'docs://logo', 'docs://data'].map((uri) => read(client, uri)));
    expect(contents.flat()).toMatchObject([
      { mimeType: 'text/plain', text: '# Hello' },
      { mimeType: 'image/png', blob: expect.any(String) },
      { mimeType: 'application/json', text: '{"a":[1]}' },
    ]);
  });
});

describe('a subscription', () => {
  const URI = 'docs://readme';

  eachRevision('RES-19', 'begins and ends with an empty answer, and is about one URI', async (revision) => {
    const server = library();
    const client = await RawClient.connect(server, { revision });
    const updates = () => client.of('notifications/resources/updated').map(({ params }) => params?.['uri']);
    expect(await client.result('resources/subscribe', { uri: URI })).toEqual({});
    for (const uri of [URI, 'docs://logo']) server.notify.resourceUpdated(uri);
    await client.settled();
    expect(updates()).toEqual([URI]);
    expect(await client.result('resources/unsubscribe', { uri: URI })).toEqual({});
    server.notify.resourceUpdated(URI);
    await client.settled();
    expect(updates()).toEqual([URI]);
  });

  eachRevision('RES-20', 'tells the subscriber, and nobody else', async (revision) => {
    const server = library();
    const [one, other] = await Promise.all([1, 2].map(() => RawClient.connect(server, { revision })));
    await one?.result('resources/subscribe', { uri: URI });
    server.notify.resourceUpdated(URI);
    await Promise.all([one?.settled(), other?.settled()]);
    expect(one?.of('notifications/resources/updated')).toMatchObject([{ params: { uri: URI } }]);
    expect(other?.of('notifications/resources/updated')).toEqual([]);
  });

  eachRevision('RES-21', 'ends with its session', async (revision) => {
    const server = library();
    const client = await RawClient.connect(server, { revision });
    await client.result('resources/subscribe', { uri: URI });
    await client.close();
    const before = client.received.length;
    server.notify.resourceUpdated(URI);
    const next = await RawClient.connect(server, { revision });
    server.notify.resourceUpdated(URI);
    await next.settled();
    expect(client.received).toHaveLength(before);
    expect(next.of('notifications/resources/updated')).toEqual([]);
  });

  class Tree {
    @Resource('docs://folder')
    folder() {
      return '';
    }

    @Tool()
    touch(_input: NoInput, _context: Context) {}
  }

  eachRevision('RES-25', 'hears of what is in its resource', async (revision) => {
    const server = serverOf({ providers: [Tree] });
    const client = await RawClient.connect(server, { revision });
    await client.result('resources/subscribe', { uri: 'docs://folder' });
    server.notify.resourceUpdated('docs://folder/a');
    server.notify.resourceUpdated('docs://folders');
    await client.settled();
    expect(client.of('notifications/resources/updated')).toMatchObject([{ params: { uri: 'docs://folder/a' } }]);
  });
});
