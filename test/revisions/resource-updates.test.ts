import { describe, expect } from '@jest/globals';
import { Resource } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { RawClient } from '../support/raw-client.js';
import { eachRevision, eachRevisionOf, eachSessionRevision, inStateless, STATELESS } from '../support/requirements.js';
import { followResource, listen, plain } from './neutral.js';
import { deferred, serverOf, serverWith } from './servers.js';

class Library {
  @Resource('docs://readme')
  readme() {
    return '# Hello';
  }

  @Resource('docs://logo', { mimeType: 'image/png' })
  logo() {
    return Buffer.from([0, 127, 255]);
  }

  @Resource('docs://data')
  data() {
    return { a: [1] };
  }
}

class Tree {
  @Resource('docs://tree')
  tree() {
    return '';
  }
}

const library = () => serverOf({ providers: [Library] });

describe('a subscription', () => {
  const URI = 'docs://readme';

  eachSessionRevision('RES-19', 'starts and ends with an empty response, and is for one URI', async (revision) => {
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

  eachSessionRevision('RES-19', 'ends for one of several URIs, and goes on for the others', async (revision) => {
    const server = library();
    const client = await RawClient.connect(server, { revision });
    const uris = ['docs://readme', 'docs://logo', 'docs://data'];
    const updates = async () => {
      const before = client.of('notifications/resources/updated').length;
      for (const uri of uris) server.notify.resourceUpdated(uri);
      await client.settled();
      const all = client.of('notifications/resources/updated').map(({ params }) => params?.['uri']);
      return all.slice(before);
    };
    expect(await updates()).toEqual([]);
    for (const [index, uri] of uris.entries()) {
      expect(await client.result('resources/subscribe', { uri })).toEqual({});
      expect(await updates()).toEqual(uris.slice(0, index + 1));
    }
    for (const [index, uri] of uris.entries()) {
      expect(await client.result('resources/unsubscribe', { uri })).toEqual({});
      expect(await updates()).toEqual(uris.slice(index + 1));
    }
  });

  eachSessionRevision('RES-20', 'notifies only the subscriber, of each of its URIs', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      const server = library();
      const [one, other] = [
        await RawClient.connect(server, { revision }, transport),
        await RawClient.connect(server, { revision }, transport),
      ];
      const uris = [URI, 'docs://logo'];
      for (const uri of uris) await one.result('resources/subscribe', { uri });
      for (const uri of uris) server.notify.resourceUpdated(uri);
      await one.find(() => one.of('notifications/resources/updated').length === 2);
      await Promise.all([one.settled(), other.settled()]);
      expect(one.of('notifications/resources/updated').map(({ params }) => params)).toEqual(
        uris.map((uri) => ({ uri })),
      );
      expect(other.of('notifications/resources/updated')).toEqual([]);
      // of what is inside, by its own URI
      const before = one.of('notifications/resources/updated').length;
      const inner = ['docs://readme/1', 'docs://readme/2'];
      for (const uri of inner) server.notify.resourceUpdated(uri, URI);
      await one.find(() => one.of('notifications/resources/updated').length === before + 2);
      const told = one.of('notifications/resources/updated').slice(before);
      expect(told.map(({ params }) => params)).toEqual(inner.map((uri) => ({ uri })));
    }
  });

  class Pages {
    @Resource('docs://a')
    first() {
      return 'a';
    }

    @Resource('docs://b')
    second() {
      return 'b';
    }

    @Resource('docs://pages/{at}', { input: { type: 'object', properties: { at: { type: 'string' } } } })
    page() {
      return 'page';
    }
  }

  eachRevisionOf(
    ['RES-19', 'RES-20', 'RES-21'],
    'lasts from one request to another, for one URI of one session, over every transport',
    async (revision) => {
      const [a, b, page, end] = ['docs://a', 'docs://b', 'docs://pages/1', 'docs://pages/end'];
      for (const transport of Object.values(transportsOf(revision))) {
        const server = serverOf({ providers: [Pages] });
        const open = () => RawClient.connect(server, { revision }, transport);
        const [one, other] = [await open(), await open()];
        const ask = async (client: RawClient, verb: string, ...uris: string[]) => {
          for (const uri of uris) expect(await client.result(`resources/${verb}`, { uri })).toEqual({});
        };
        const told = (client: RawClient) => client.of('notifications/resources/updated');
        /** What a client is told of some updates, up to one that it always follows. */
        const updates = async (client: RawClient, ...changed: (readonly [uri: string, within?: string])[]) => {
          const before = told(client).length;
          for (const [uri, within] of [...changed, [end] as const]) server.notify.resourceUpdated(uri, within);
          await client.find(() =>
            told(client)
              .slice(before)
              .some(({ params }) => params?.['uri'] === end),
          );
          await client.settled();
          const params = told(client)
            .slice(before)
            .map((message) => message.params);
          expect(params.pop()).toEqual({ uri: end });
          return params;
        };
        for (const client of [one, other]) await ask(client, 'subscribe', end);
        expect(await updates(one, [a], [page])).toEqual([]);
        await ask(one, 'subscribe', a, page, page);
        await ask(other, 'subscribe', a);
        for (const uri of ['docs://c', 'docs://pages', 'docs://pages/', 'other://a']) {
          expect(await one.error('resources/subscribe', { uri })).toMatchObject({ code: -32002, data: { uri } });
        }
        expect(await updates(one, [a], [b], [page], ['docs://pages/2'], ['docs://c'])).toEqual([
          { uri: a },
          { uri: page },
        ]);
        expect(await updates(one, [a], [a])).toEqual([{ uri: a }, { uri: a }]);
        // inside two that are followed, but told once
        expect(await updates(one, [page, a], [`${a}/x`, a], [`${b}/x`, b], [a, b])).toEqual(
          [page, `${a}/x`, a].map((uri) => ({ uri })),
        );
        server.addProvider(Library);
        // one URI is the beginning of the other
        await ask(one, 'subscribe', `${page}0`);
        await ask(one, 'unsubscribe', b, page, 'other://a');
        expect(await updates(one, [a], [page], [`${page}0`])).toEqual([{ uri: a }, { uri: `${page}0` }]);
        await ask(one, 'unsubscribe', `${page}0`);
        await ask(one, 'unsubscribe', a, a);
        expect(await updates(one, [a], [page], [`${a}/x`, a])).toEqual([]);
        expect(await updates(other, [a], [page])).toEqual([{ uri: a }]);
        await ask(one, 'subscribe', page);
        await other.close();
        const next = await open();
        expect(await updates(one, [a], [page])).toEqual([{ uri: page }]);
        await next.settled();
        expect(told(next)).toEqual([]);
        for (const client of [one, next]) await client.close();
      }
    },
  );

  eachSessionRevision('RES-21', 'ends with its session', async (revision) => {
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

  inStateless('RES-22', 'is a listen request, and nobody else gets updates', async () => {
    for (const transport of Object.values(transportsOf(STATELESS))) {
      const [entered, go] = [deferred(), deferred()];
      const server = serverWith({
        async work(context) {
          entered.resolve();
          await go.promise;
          context.log.error('still here');
        },
      });
      server.addProvider(Library);
      const open = () => RawClient.connect(server, { revision: STATELESS, logLevel: 'debug' }, transport);
      const [follower, lister, worker] = await Promise.all([open(), open(), open()]);
      const acknowledged = await listen(follower!, { resourceSubscriptions: [URI] }, 'mine');
      expect(acknowledged).toEqual({ resourceSubscriptions: [URI] });
      await listen(lister!, { resourcesListChanged: true });
      const worked = worker!.call('work');
      await entered.promise;
      for (const uri of [URI, 'docs://logo']) server.notify.resourceUpdated(uri);
      server.notify.resourcesChanged();
      go.resolve();
      await worked;
      await lister!.find(({ method }) => method === 'notifications/resources/list_changed');
      await Promise.all([follower!.settled(), lister!.settled(), worker!.settled()]);
      const updates = [follower, lister, worker].map((client) => client!.of('notifications/resources/updated'));
      const mine = { uri: URI, _meta: { 'io.modelcontextprotocol/subscriptionId': 'mine' } };
      expect(updates.map((messages) => messages.map(({ params }) => params))).toEqual([[mine], [], []]);
      for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
        expect(await worker!.error(method, { uri: URI })).toMatchObject({ code: -32601 });
      }
    }
  });

  eachRevision(
    'RES-25',
    'includes changes inside the resource that the server names, and no others',
    async (revision) => {
      const server = serverOf({ providers: [Tree] });
      const client = await RawClient.connect(server, { revision });
      await followResource(client, 'docs://tree');
      server.notify.resourceUpdated('docs://tree/ada');
      server.notify.resourceUpdated('docs://tree/a', 'docs://tree');
      server.notify.resourceUpdated('docs://tree/b', 'docs://trees');
      server.notify.resourceUpdated('docs://trees');
      server.notify.resourceUpdated('docs://tree');
      await client.settled();
      const told = client.of('notifications/resources/updated').map(({ params }) => plain(params));
      expect(told).toEqual([{ uri: 'docs://tree/a' }, { uri: 'docs://tree' }]);
    },
  );
});
