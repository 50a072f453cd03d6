import { audit, verifyAudit } from '@decorum/audit';
import { McpServer } from '@decorum/core';
import { connect } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { writeFileSync } from 'node:fs';

import { AuditLog } from '../src/audit/log.js';
import { keysOf } from '../src/audit/keys.js';
import { BEGINNING } from '../src/audit/chain.js';
import type { Sink } from '../src/audit/sink.js';
import { Folder, KEY, parsed, Shop, shop } from './shop.js';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
  jest.useFakeTimers({ now: 0, doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
});
afterEach(() => {
  jest.useRealTimers();
  folder.remove();
});

/** A function that gets lines, and can fail. */
class Receiver {
  readonly lines: string[] = [];
  readonly errors: unknown[] = [];
  failure: Error | undefined;
  hangs = false;
  /** Lets what hangs go on. */
  release: () => void = () => {};
  readonly onError = (error: unknown) => void this.errors.push(error);
  readonly write = (line: string): void | Promise<void> => {
    if (this.failure !== undefined) throw this.failure;
    if (!this.hangs) return void this.lines.push(line);
    return new Promise((resolve) => {
      this.release = () => {
        this.hangs = false;
        this.lines.push(line);
        resolve();
      };
    });
  };

  get options() {
    return { write: this.write };
  }

  async verified() {
    const file = folder.file('lines.log');
    writeFileSync(file, this.lines.map((line) => `${line}\n`).join(''));
    return await verifyAudit([file], { key: KEY });
  }
}

const outcomes = (lines: readonly string[]) => parsed(lines).map(({ outcome }) => outcome);
const settle = () => new Promise(setImmediate);
const FULL = /The audit log can't be written to the function `write`: the disk is full/;

describe('A function that fails', () => {
  it('is told of once, gets all lines in order when it works again, and lets calls go on', async () => {
    const receiver = new Receiver();
    const client = await connect(shop(receiver.options, { onError: receiver.onError }));
    for (let times = 0; times < 2; times += 1) {
      receiver.failure = new Error('the disk is full');
      for (let at = 0; at < 3; at += 1) expect((await client.callTool('buy', { sku: 'a' })).isError).toBeFalsy();
      jest.advanceTimersByTime(5000);
      receiver.failure = undefined;
      jest.advanceTimersByTime(1000);
    }
    await client.close();
    expect(receiver.errors).toEqual(
      [1, 2].map(() => expect.objectContaining({ message: expect.stringMatching(FULL) })),
    );
    expect(await receiver.verified()).toMatchObject({ lines: 6, findings: [] });
  });

  it('stops calls with failClosed until it works again, and says nothing of the reason', async () => {
    const receiver = new Receiver();
    const ran: string[] = [];
    class Counted extends Shop {
      override buy({ sku }: { sku: string }) {
        ran.push(sku);
        return sku;
      }
    }
    const plugins = [audit({ ...receiver.options, key: KEY, failClosed: true })];
    const quiet = { error() {}, warn() {} };
    const client = await connect(
      new McpServer({
        name: 'shop',
        version: '1.0.0',
        providers: [Counted],
        plugins,
        logger: quiet,
        onError: receiver.onError,
      }),
    );
    receiver.failure = new Error('the disk is full');
    await client.callTool('buy', { sku: 'this one ran before anybody knew' });
    const refused = { code: -32_603, message: "The server can't record calls for now. Try again later." };
    await expect(client.callTool('buy', { sku: 'b' })).rejects.toMatchObject(refused);
    await expect(client.getPrompt('praise', { sku: 'b' })).rejects.toMatchObject(refused);
    await expect(client.readResource('shop://b')).rejects.toMatchObject(refused);
    receiver.failure = undefined;
    jest.advanceTimersByTime(1000);
    await client.callTool('buy', { sku: 'c' });
    await client.close();
    expect(ran).toEqual(['this one ran before anybody knew', 'c']);
    // refused calls have a line, too
    expect(outcomes(receiver.lines)).toEqual(['ok', 'error', 'error', 'error', 'ok']);
    expect(await receiver.verified()).toMatchObject({ findings: [] });
  });

  it('may reject, too', async () => {
    const receiver = new Receiver();
    let isBroken = true;
    const write = async (line: string) => {
      if (isBroken) throw new Error('the disk is full');
      receiver.lines.push(line);
    };
    const client = await connect(shop({ write }, { onError: receiver.onError }));
    await client.callTool('buy', { sku: 'a' });
    await settle();
    isBroken = false;
    await client.callTool('buy', { sku: 'b' });
    jest.advanceTimersByTime(1000);
    await settle();
    await client.close();
    expect(receiver.errors).toEqual([expect.objectContaining({ message: expect.stringMatching(FULL) })]);
    expect(await receiver.verified()).toMatchObject({ lines: 2, findings: [] });
  });
});

describe('A function that hangs', () => {
  it('gets one line at a time, and counts as failing after ten seconds', async () => {
    const receiver = new Receiver();
    const client = await connect(shop({ ...receiver.options, failClosed: true }, { onError: receiver.onError }));
    receiver.hangs = true;
    await client.callTool('buy', { sku: 'a' });
    await client.callTool('buy', { sku: 'b' });
    expect(receiver.lines).toEqual([]);
    jest.advanceTimersByTime(10_001);
    await expect(client.callTool('buy', { sku: 'c' })).rejects.toMatchObject({ code: -32_603 });
    expect(receiver.errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining('It has not written a line for 10 seconds.') }),
    ]);
    receiver.release();
    await settle();
    await client.callTool('buy', { sku: 'd' });
    await client.close();
    expect(outcomes(receiver.lines)).toEqual(['ok', 'ok', 'error', 'ok']);
  });

  it('does not keep the server from closing, which tells how many lines are lost', async () => {
    const receiver = new Receiver();
    const server = shop(receiver.options, { onError: receiver.onError });
    const client = await connect(server);
    receiver.hangs = true;
    for (const sku of ['a', 'b', 'c']) await client.callTool('buy', { sku });
    await client.close();
    const closing = server.close();
    await settle();
    jest.advanceTimersByTime(5000);
    await settle();
    await closing;
    expect(receiver.errors).toEqual([
      expect.objectContaining({ message: '3 lines of the audit log were not written.' }),
    ]);
  });
});

describe('Too many lines that wait', () => {
  it('cost no more memory: a line counts the calls that have none', async () => {
    const [key] = keysOf([KEY]);
    const written: string[] = [];
    const errors: Error[] = [];
    let failure: Error | undefined = new Error('the disk is full');
    const sink: Sink = {
      name: 'a disk',
      delayMs: undefined,
      maxLines: Infinity,
      open: async () => BEGINNING,
      close: async () => {},
      write(lines) {
        if (failure !== undefined) throw failure;
        written.push(...lines);
      },
    };
    const log = new AuditLog(sink, (error) => errors.push(error));
    await log.open(key as never);
    const fields = `{"at":"","args":"${'x'.repeat(2 ** 20)}"`;
    for (let at = 0; at < 20; at += 1) log.add(fields);
    failure = undefined;
    jest.advanceTimersByTime(1000);
    log.add('{"at":""');
    await log.close();
    expect(written).toHaveLength(10);
    expect(parsed(written).map(({ outcome, cause }) => [outcome, cause])[8]).toEqual(['lost', '12 calls']);
    expect(errors.map(({ message }) => message)).toEqual([
      "The audit log can't be written to a disk: the disk is full",
      'Calls have no line in the audit log, because 8 lines wait.',
    ]);
  });
});

describe('The chain of a function', () => {
  it('begins anew in each process, or continues after a MAC', async () => {
    const receiver = new Receiver();
    for (const after of [undefined, 'last']) {
      const last = receiver.lines.at(-1);
      const mac = last === undefined ? undefined : parsed([last])[0]?.mac;
      const client = await connect(shop({ ...receiver.options, ...(after !== undefined && { after: mac as string }) }));
      await client.callTool('buy', { sku: 'a' });
      await client.close();
    }
    expect(await receiver.verified()).toMatchObject({ lines: 2, findings: [] });
    const client = await connect(shop(receiver.options));
    await client.callTool('buy', { sku: 'a' });
    await client.close();
    expect((await receiver.verified()).findings).toMatchObject([{ line: 3, problem: 'restarted' }]);
  });
});
