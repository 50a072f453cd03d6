import { join, resolve } from 'node:path/posix';

import { describe, expect } from '@jest/globals';
import { Completion, type Context, type JsonObject, NoInput, Resource, ToolError } from '@decorum/core';
import { listen as listenOverHttp } from '@decorum/http';
import { IsInt, IsString } from 'class-validator';
import fc from 'fast-check';

import { overHttp, statelessHeaders } from '../support/http-transports.js';
import { type Message, RawClient } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { golden } from './golden-servers.js';
import { copies } from './lists.js';
import { answersOnTwo, followList, followResource, listen } from './neutral.js';
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

class Tree {
  @Resource('docs://tree')
  tree() {
    return '';
  }
}

/** The error code for an unknown resource. */
const unknownIn = (revision: Revision) => (revision === STATELESS ? -32602 : -32002);

function decodeAgain(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const library = () => serverOf({ providers: [Library] });
const read = async (client: RawClient, uri: string) =>
  ((await client.result('resources/read', { uri }))['contents'] as JsonObject[]) ?? [];

describe('the list of resources', () => {
  eachRevision('RES-01', 'is declared if there are resources, with the supported features', async (revision) => {
    class Family {
      @Resource('docs://pages/{name}')
      page({ name }: Named) {
        return name;
      }
    }
    const without = await RawClient.connect(serverWith({ tool: () => '' }), { revision, begins: false });
    expect((await without.begin())['capabilities']).not.toHaveProperty('resources');
    expect(await without.error('resources/list')).toMatchObject({ code: -32601 });
    for (const [index, provider] of [Tree, Family, Library].entries()) {
      const server = index === 0 ? serverWith({ tool: () => '' }) : serverOf();
      server.addProvider(provider);
      const client = await RawClient.connect(server, { revision, begins: false });
      const { capabilities } = await client.begin();
      expect(capabilities).toHaveProperty('resources', { listChanged: true, subscribe: true });
      // the declared capabilities work
      const uri = provider === Tree ? 'docs://tree' : 'docs://pages/a';
      if (client.stateless) await listen(client, { resourcesListChanged: true, resourceSubscriptions: [uri] });
      else await followResource(client, uri);
      server.notify.resourceUpdated(uri);
      server.notify.resourcesChanged();
      for (const about of ['updated', 'list_changed']) {
        await client.find(({ method }) => method === `notifications/resources/${about}`);
      }
    }
  });

  eachRevision('RES-01', 'declares no session features if sessions are off', async (revision) => {
    const { url, close } = await listenOverHttp(library(), { port: 0, sessions: false });
    const post = async (message: Message, more: Record<string, string>): Promise<Message> => {
      const accept = 'application/json, text/event-stream';
      const headers = { 'content-type': 'application/json', accept, ...more };
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) });
      return (await response.json()) as Message;
    };
    try {
      if (revision === STATELESS) {
        const client = await RawClient.connect(library(), { revision });
        const discover = client.buildMessage(1, 'server/discover');
        const { result } = await post(discover, statelessHeaders(discover));
        expect(result?.['capabilities']).toHaveProperty('resources', { listChanged: true, subscribe: true });
      } else {
        const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
        const { result } = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params }, {});
        expect(result?.['capabilities']).toHaveProperty('resources', {});
        const subscribe = { method: 'resources/subscribe', params: { uri: 'docs://readme' } };
        const { error } = await post({ jsonrpc: '2.0', id: 2, ...subscribe }, { 'mcp-protocol-version': revision });
        expect(error).toMatchObject({ code: -32601 });
      }
    } finally {
      await close();
    }
  });

  eachRevision('RES-02', 'has a URI and a name for each resource', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    const { resources } = (await client.result('resources/list')) as { resources: JsonObject[] };
    expect(resources).toHaveLength(6);
    for (const resource of resources)
      expect(resource).toMatchObject({ uri: expect.any(String), name: expect.any(String) });
  });

  inStateless('RES-03', 'is the same on every connection, regardless of earlier reads, and may be empty', async () => {
    for (const method of ['resources/list', 'resources/templates/list']) {
      const answers = await answersOnTwo(library(), method, async (client) => {
        for (const name of ['readme', 'pages/a', 'nothing']) {
          await client.request('resources/read', { uri: `docs://${name}` });
        }
        await listen(client, { resourceSubscriptions: ['docs://readme'] });
      });
      for (const [one, other] of answers) {
        expect(one).toContain('docs://');
        expect(other).toBe(one);
      }
    }
    const server = serverOf();
    server.addProvider(Library).remove();
    const client = await RawClient.connect(server, { revision: STATELESS });
    expect(await client.result('resources/list')).toMatchObject({ resources: [] });
  });

  eachRevision('RES-04', 'has templates in a separate list', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    const { resourceTemplates } = await client.result('resources/templates/list');
    expect(resourceTemplates).toEqual([
      { uriTemplate: 'docs://pages/{name}', name: 'page' },
      { uriTemplate: 'docs://pages/{name}/raw', name: 'raw' },
      { uriTemplate: 'docs://numbers/{id}', name: 'numbered' },
    ]);
  });

  eachRevision('RES-16', 'marks directories by their type', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    const { resources } = await client.result('resources/list');
    expect(resources).toContainEqual({ uri: 'docs://folder', name: 'folder', mimeType: 'inode/directory' });
  });

  eachRevision('RES-17', 'has absolute URIs and valid templates', async (revision) => {
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

  eachRevision('RES-18', 'causes a notification when a resource is added or removed', async (revision) => {
    const server = serverOf({ providers: [Tree] });
    const client = await RawClient.connect(server, { revision });
    await followList(client, 'resources');
    const changed = async (times: number) => {
      await client.find(() => client.of('notifications/resources/list_changed').length === times);
      return ((await client.result('resources/list'))['resources'] as unknown[]).length;
    };
    const added = server.addProvider(Library);
    expect(await changed(1)).toBe(7);
    added.remove();
    expect(await changed(2)).toBe(1);
    // a template alone
    class Family {
      @Resource('docs://pages/{name}')
      page({ name }: Named) {
        return name;
      }
    }
    const family = server.addProvider(Family);
    expect(await changed(3)).toBe(1);
    family.remove();
    expect(await changed(4)).toBe(1);
  });

  eachRevision('RES-18', 'causes one notification, not repeated when another list changes', async (revision) => {
    const server = serverOf({ providers: [copies('a')] });
    const client = await RawClient.connect(server, { revision });
    const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    if (client.stateless) await listen(client, all);
    const { toolsChanged, promptsChanged, resourcesChanged } = server.notify;
    const announce = { tools: toolsChanged, prompts: promptsChanged, resources: resourcesChanged };
    const changes = ['resources', 'tools', 'prompts', 'resources', 'tools'] as const;
    const told = () => client.received.flatMap(({ method }) => (method?.endsWith('/list_changed') ? [method] : []));
    for (const [at, list] of changes.entries()) {
      announce[list]();
      await client.find(() => told().length > at);
      expect(told()).toEqual(changes.slice(0, at + 1).map((changed) => `notifications/${changed}/list_changed`));
    }
  });

  eachRevision('RES-24', 'has all fields of a resource in the revision', async (revision) => {
    const client = await RawClient.connect(golden('lists'), { revision });
    const { resources } = (await client.result('resources/list')) as { resources: [JsonObject] };
    const newer = [
      ...(revision >= '2025-06-18' ? ['_meta', 'title'] : []),
      ...(revision >= '2025-11-25' ? ['icons'] : []),
    ];
    const known = ['annotations', 'description', 'mimeType', 'name', 'size', 'uri', ...newer];
    expect(Object.keys(resources[0]).sort()).toEqual(known.sort());
    class Empty {
      @Resource('docs://empty', { size: 0, annotations: { priority: 0, audience: [] } })
      empty() {
        return '';
      }
    }
    const empty = await RawClient.connect(serverOf({ providers: [Empty] }), { revision });
    expect((await empty.result('resources/list'))['resources']).toEqual([
      { uri: 'docs://empty', name: 'empty', size: 0, annotations: { priority: 0, audience: [] } },
    ]);
  });
});

describe('reading', () => {
  eachRevision('RES-05', 'returns text, or bytes in base64', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    expect(await read(client, 'docs://readme')).toEqual([
      { uri: 'docs://readme', mimeType: 'text/plain', text: '# Hello' },
    ]);
    expect(await read(client, 'docs://logo')).toEqual([
      { uri: 'docs://logo', mimeType: 'image/png', blob: BYTES.toString('base64') },
    ]);
    class Whole {
      @Resource('docs://whole/{name}')
      whole({ name }: Named) {
        const entry = { uri: 'docs://inner', mimeType: 'image/png', blob: BYTES };
        return name === 'one' ? entry : name === 'list' ? [entry] : { contents: [entry] };
      }
    }
    const other = await RawClient.connect(serverOf({ providers: [Whole] }), { revision });
    for (const name of ['one', 'list', 'contents']) {
      expect(await read(other, `docs://whole/${name}`)).toEqual([
        { uri: 'docs://inner', mimeType: 'image/png', blob: BYTES.toString('base64') },
      ]);
    }
  });

  eachRevision('RES-05', 'returns empty and falsy values too', async (revision) => {
    const values = { text: '', bytes: new Uint8Array(), zero: 0, no: false, list: [], object: {} };
    class Edges {
      @Resource('docs://edges/{name}')
      edge({ name }: Named) {
        return values[name as keyof typeof values];
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Edges] }), { revision });
    const json = { mimeType: 'application/json' };
    const expected = {
      text: { mimeType: 'text/plain', text: '' },
      bytes: { mimeType: 'application/octet-stream', blob: '' },
      zero: { ...json, text: '0' },
      no: { ...json, text: 'false' },
      list: { ...json, text: '[]' },
      object: { ...json, text: '{}' },
    };
    for (const [name, content] of Object.entries(expected)) {
      const uri = `docs://edges/${name}`;
      expect(await read(client, uri)).toEqual([{ uri, ...content }]);
    }
  });

  eachRevision('RES-06', 'may return several contents', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    expect((await read(client, 'docs://folder')).map(({ uri }) => uri)).toEqual(['docs://folder/a', 'docs://folder/b']);
  });

  eachSessionRevision('RES-07', 'an unknown resource is an error with the URI', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    for (const uri of ['docs://nothing', 'docs://pages', 'file:///etc/passwd']) {
      for (const method of ['resources/read', 'resources/subscribe']) {
        expect([method, await client.error(method, { uri })]).toMatchObject([method, { code: -32002, data: { uri } }]);
      }
    }
  });

  const MISSING = [
    'docs://nothing',
    'docs://pages',
    'docs://lost/undefined',
    'docs://lost/null',
    'docs://lost/later',
    'docs://lost',
    'file:///etc/passwd',
  ];

  class Lost {
    @Resource('docs://lost/{name}')
    page({ name }: Named): string | null | undefined | Promise<null> {
      return name === 'later' ? Promise.resolve(null) : name === 'null' ? null : undefined;
    }

    @Resource('docs://lost')
    all() {
      return null;
    }
  }

  eachSessionRevision('RES-07', 'a resource that its handler does not find is the same error', async (revision) => {
    const client = await RawClient.connect(serverOf({ providers: [Library, Lost] }), { revision });
    for (const uri of MISSING) {
      expect(await client.error('resources/read', { uri })).toMatchObject({ code: -32002, data: { uri } });
    }
  });

  inStateless('RES-08', 'an unknown resource is an invalid params error with the URI', async () => {
    const client = await RawClient.connect(serverOf({ providers: [Library, Lost] }), { revision: STATELESS });
    for (const uri of MISSING) {
      expect(await client.error('resources/read', { uri })).toMatchObject({ code: -32602, data: { uri } });
    }
  });

  inStateless('RES-09', 'an unknown resource never has empty contents', async () => {
    const client = await RawClient.connect(serverOf({ providers: [Library, Lost] }), { revision: STATELESS });
    for (const uri of MISSING) expect(await client.request('resources/read', { uri })).not.toHaveProperty('result');
    client.received.length = 0;
    expect(await read(client, 'docs://readme')).toHaveLength(1);
  });

  inStateless('RES-09', 'an empty list is JSON, not empty contents', async () => {
    class Search {
      @Resource('docs://found/{name}')
      found({ name }: Named) {
        return name === 'later' ? Promise.resolve([]) : [];
      }

      @Resource('docs://found')
      all() {
        return [];
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Search] }), { revision: STATELESS });
    for (const uri of ['docs://found/now', 'docs://found/later', 'docs://found']) {
      expect(await read(client, uri)).toEqual([{ uri, mimeType: 'application/json', text: '[]' }]);
    }
  });

  eachRevision('RES-10', 'a failing handler is an internal error without details', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    const error = await client.error('resources/read', { uri: 'docs://broken' });
    expect(error).toMatchObject({ code: -32603 });
    expect(JSON.stringify(error)).not.toContain('sda1');
  });

  eachRevision('RES-10', 'whatever a handler throws or returns by mistake is one', async (revision) => {
    const thrown: readonly unknown[] = [new ToolError('No disk.'), new TypeError('sda1'), 'sda1', undefined, { a: 1 }];
    const failing = (index: string) => {
      if (index === 'odd') return { contents: [{ uri: 'docs://a' }] };
      throw thrown[Number(index)];
    };
    class Failing {
      @Resource('docs://now/{name}')
      now({ name }: Named) {
        return failing(name);
      }

      @Resource('docs://later/{name}')
      async later({ name }: Named) {
        return await Promise.resolve().then(() => failing(name));
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Failing] }), { revision });
    for (const when of ['now', 'later']) {
      for (const name of [...thrown.keys(), 'odd']) {
        const error = await client.error('resources/read', { uri: `docs://${when}/${name}` });
        expect([when, name, error]).toMatchObject([when, name, { code: -32603 }]);
        expect(JSON.stringify(error)).not.toContain('sda1');
      }
    }
  });

  eachRevision('RES-11', 'rejects a URI without a match, and runs no handler for it', async (revision) => {
    const provider = new Library();
    const client = await RawClient.connect(serverOf({ providers: [provider] }), { revision });
    class Completed {
      @Resource('docs://pages/{name}')
      page({ name }: Named) {
        return name;
      }

      @Completion({ for: 'page', argument: 'name' })
      names() {
        return [];
      }
    }
    const completer = await RawClient.connect(serverOf({ providers: [Completed] }), { revision });
    const long = `docs://pages/${'a'.repeat(8192)}`;
    const methods = ['resources/read', ...(client.stateless ? [] : ['resources/subscribe', 'resources/unsubscribe'])];
    for (const params of [undefined, {}, { uri: 7 }, { uri: null }, { uri: ['docs://readme'] }, { uri: long }]) {
      for (const method of methods) {
        expect([method, await client.error(method, params)]).toMatchObject([method, { code: -32602 }]);
      }
      const completing = { ref: { type: 'ref/resource', ...params }, argument: { name: 'name', value: '' } };
      expect(await completer.error('completion/complete', completing)).toMatchObject({ code: -32602 });
    }
    for (const uri of ['', 'docs', '://', 'gopher://readme', 'docs://pages/%zz', 'docs://readme\n', 'docs://pages/']) {
      expect(await client.error('resources/read', { uri })).toMatchObject({ code: unknownIn(revision) });
    }
    expect(await client.error('resources/read', { uri: 'docs://numbers/seven' })).toMatchObject({ code: -32602 });
    expect(provider.reads).toEqual([]);
  });

  const ROOT = '/srv/files';
  const ANYTHING = { type: 'object', properties: { path: {}, user: {}, more: {} } };

  /** A fake disk that records opened paths. */
  class Disk {
    readonly opened: string[] = [];

    @Resource('file:///{+path}', { input: ANYTHING })
    file({ path }: { path: string }) {
      return this.open(path);
    }

    @Resource('file:///home/{user}{/more*}', { input: ANYTHING })
    home({ user, more = [] }: { user: string; more?: string[] }) {
      return this.open(['home', user, ...more].join('/'));
    }

    @Resource('file://share/find{?path}', { input: ANYTHING })
    found({ path = '' }: { path?: string }) {
      return this.open(path);
    }

    private open(path: string): string {
      // some handlers decode twice
      for (const each of [path, decodeAgain(path)]) this.opened.push(join(ROOT, each), resolve(ROOT, `./${each}`));
      return path;
    }
  }

  inStateless('RES-12', 'never leads a handler out of its directory', async () => {
    const disk = new Disk();
    const server = serverOf({ providers: [disk] });
    const client = await RawClient.connect(server, { revision: STATELESS });
    const overTheNet = await RawClient.connect(server, { revision: STATELESS }, overHttp);
    const up = ['..', '%2e%2e', '%2E.', '.%2e', '%252e%252e', '%25252e.', '..%00', '%20..'];
    const escapes = up.flatMap((dots) => ['/', '%2F', '%2f', '%5c', '%252f'].map((slash) => dots + slash));
    const uris = escapes.flatMap((escape) => [
      `file:///${escape}${escape}etc/passwd`,
      `file:///a/${escape}${escape}etc/passwd`,
      `file:///home/${escape}etc/passwd`,
      `file:///home/ada/${escape}${escape}passwd`,
      `file://share/find?path=${escape}etc/passwd`,
    ]);
    for (const uri of [...uris, 'file:///..', 'file:///a/..', 'file:///%2e%2e', 'file:///../../etc/passwd']) {
      const error = { code: -32602, data: { uri } };
      expect(await client.error('resources/read', { uri })).toMatchObject(error);
      expect(await overTheNet.error('resources/read', { uri })).toMatchObject(error);
    }
    expect(disk.opened).toEqual([]);
    for (const path of ['a/b.txt', 'a..b', '...', '.hidden', 'home/ada/notes', 'a%20b']) {
      expect(await read(client, `file:///${path}`)).toMatchObject([{ text: decodeURIComponent(path) }]);
    }
  });

  inStateless('RES-12', 'stays in the directory for any path', async () => {
    const disk = new Disk();
    const client = await RawClient.connect(serverOf({ providers: [disk] }), { revision: STATELESS });
    const piece = fc.constantFrom('.', '..', '/', '//', 'a', 'home/', '%2e', '%2F', '%5C', '%25', '2e', '2f', '%00');
    const property = fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 8 }), async (pieces) => {
      await client.request('resources/read', { uri: `file:///${pieces.join('')}` });
      expect(disk.opened.filter((path) => path !== ROOT && !path.startsWith(`${ROOT}/`))).toEqual([]);
    });
    await fc.assert(property, { numRuns: 1000 });
    expect(disk.opened).not.toEqual([]);
  });

  eachRevision('RES-14', 'returns the exact bytes', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    const [content] = await read(client, 'docs://logo');
    expect(Buffer.from(content?.['blob'] as string, 'base64')).toEqual(BYTES);
  });

  eachRevision('RES-26', 'finds the best handler for a URI', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    const textAt = async (uri: string) => (await read(client, uri))[0]?.['text'];
    expect(await textAt('docs://pages/index')).toBe('the index');
    expect(await textAt('docs://pages/a')).toBe('page a');
    expect(await textAt('docs://pages/a%2Fb')).toBe('page a/b');
    expect(await textAt('docs://pages/a%252Fb')).toBe('page a%2Fb');
    expect(await textAt('docs://pages/a/raw')).toBe('raw a');
    // of several templates the most specific one, in whichever order they are added
    const templates = ['docs://{+path}', 'docs://in/{name}', 'docs://in/{name}.txt', 'docs://in/a{name}'];
    for (const order of [templates, [...templates].reverse()]) {
      const server = serverOf();
      for (const uri of order) {
        class One {
          @Resource(uri)
          one(_variables: NoInput) {
            return uri;
          }
        }
        server.addProvider(One);
      }
      const several = await RawClient.connect(server, { revision });
      const found = [];
      for (const path of ['x', 'in/b', 'in/b.txt', 'in/ab', 'in/b/c']) {
        found.push((await read(several, `docs://${path}`))[0]?.['text']);
      }
      expect(found).toEqual([templates[0], templates[1], templates[2], templates[3], templates[0]]);
    }
    for (const uri of ['docs://pages/a/raw/more', 'xdocs://pages/a', 'docs://pages/a/b']) {
      expect(await client.error('resources/read', { uri })).toMatchObject({ code: unknownIn(revision) });
    }
  });

  eachRevision('RES-27', 'has a type for each content, and text or bytes like the handler', async (revision) => {
    const client = await RawClient.connect(library(), { revision });
    const contents = await Promise.all(['docs://readme', 'docs://logo', 'docs://data'].map((uri) => read(client, uri)));
    expect(contents.flat()).toMatchObject([
      { mimeType: 'text/plain', text: '# Hello' },
      { mimeType: 'image/png', blob: expect.any(String) },
      { mimeType: 'application/json', text: '{"a":[1]}' },
    ]);
  });

  inStateless('RES-23', 'may start with a question', async () => {
    class Asking {
      @Resource('docs://secret')
      async secret(_input: NoInput, context: Context) {
        return (await context.confirm('Really?')) ? 'the secret' : 'nothing';
      }
    }
    const accepted = () => ({ result: { action: 'accept', content: { confirmed: true } } });
    const client = await RawClient.connect(serverOf({ providers: [Asking] }), {
      revision: STATELESS,
      capabilities: { elicitation: {} },
      answers: { 'elicitation/create': accepted },
    });
    expect(await read(client, 'docs://secret')).toMatchObject([{ text: 'the secret' }]);
    expect(client.questions).toMatchObject([{ params: { message: 'Really?' } }]);
  });
});
