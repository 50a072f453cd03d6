// What plugins are told of tasks.
import { setImmediate as turn } from 'node:timers/promises';

import { afterEach, expect, it } from '@jest/globals';
import { type McpServer, NoInput } from '@decorum/core';
import { definePlugin } from '@decorum/core/plugin';
import { tasks } from '@decorum/tasks';

import { closeAll, Disk, Process } from './processes.js';

afterEach(closeAll);

const job = (server: McpServer) =>
  void server.addTool({ name: 'job', input: NoInput, task: 'required' }, async () => {
    await turn();
    await turn();
    return 'done';
  });

it('a plugin is told when a task begins and how it has ended', async () => {
  const told: unknown[] = [];
  const watcher = definePlugin(() => ({
    name: 'watcher',
    detached({ id, method, target }) {
      told.push([id, method, target]);
      return ({ status, result }) => void told.push([status, result]);
    },
  }));
  const shop = await Process.start(new Disk(), job, { plugins: [tasks(), watcher()] });
  const id = await shop.begin('job');
  await shop.reaches(id, 'completed');
  expect(told).toEqual([
    [id, 'tools/call', 'job'],
    ['ok', undefined],
  ]);
});

it('a plugin that fails while it is told affects no task, and is reported once', async () => {
  const failing = definePlugin(() => ({
    name: 'failing',
    detached() {
      throw new Error('a bug');
    },
  }));
  const odd = definePlugin(() => ({ name: 'odd', detached: () => 7 as never }));
  const late = definePlugin(() => ({
    name: 'late',
    detached: () => () => {
      throw new Error('a late bug');
    },
  }));
  const shop = await Process.start(new Disk(), job, { plugins: [tasks(), failing(), odd(), late()] });
  for (const id of [await shop.begin('job'), await shop.begin('job')]) await shop.reaches(id, 'completed');
  expect(shop.errors).toMatchObject(
    ['failing', 'odd', 'late'].map((name) => ({
      message: expect.stringContaining(`The plugin "${name}" failed in \`detached\`. The run isn't affected.`),
    })),
  );
});
