import { Context, McpServer, NoInput, Tool } from '@decorum/core';
import { tasks } from '@decorum/tasks';
import { elicits, rehearse, type Rehearsal } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';

import { beginTask } from './begin-task.js';

class Shop {
  constructor(private readonly record: (effect: string) => void) {}

  @Tool({ description: 'Does everything once', task: 'optional' })
  async careful(_input: NoInput, ctx: Context) {
    await ctx.once('hold', () => this.record('hold'));
    if (!(await ctx.confirm('Pay?'))) return 'Kept.';
    await beginTask();
    await ctx.sleep('rest', 1);
    await Promise.all([
      ctx.once('pay', () => this.record('pay')),
      ctx.once('mail', async () => {
        await beginTask();
        this.record('mail');
      }),
    ]);
    return (await ctx.confirm('Print?')) ? 'Printed.' : 'Paid.';
  }

  @Tool({ description: 'Pays, but not in `once`', task: 'optional' })
  async careless(_input: NoInput, ctx: Context) {
    const hold = await ctx.once('hold', async () => {
      await beginTask();
      return 'held';
    });
    this.record('pay');
    await ctx.once('note', () => this.record('note'));
    return String(hold);
  }

  @Tool({ description: 'Answers otherwise after a crash', task: 'required' })
  async forgetful(_input: NoInput, ctx: Context) {
    runs += 1;
    await ctx.once('note', () => this.record('note'));
    return `Run ${runs}`;
  }

  @Tool({ description: 'Runs as no task' })
  plain() {
    return 'plain';
  }
}

let runs = 0;
const starts: string[] = [];
const server = ({ record, secret, store, run }: Rehearsal) => {
  if (starts.at(-1) !== run) {
    starts.push(run);
    runs = 0;
  }
  const shop = new Shop(record);
  return new McpServer({ name: 'shop', version: '1', secret, providers: [shop], plugins: [tasks({ store })] });
};

describe('rehearse, for tools that run as tasks', () => {
  it('kills the task at each moment, and finds no problem if every effect is in `once`', async () => {
    const rehearsed = await rehearse({ server, tool: 'careful', onElicit: elicits('accept', 'decline') });
    expect(rehearsed.problems).toEqual([]);
    expect(rehearsed.task).toMatchObject({ result: { content: [{ text: 'Paid.' }] }, rounds: 1 });
    const crashes = rehearsed.crashes.map(({ after }) => after.join(' '));
    expect(new Set(crashes)).toEqual(new Set(['hold', 'hold pay', 'hold pay mail']));
    // before and after each change of the task: two answered questions, a sleep, two effects, the result
    expect(crashes.length).toBeGreaterThan(8);
  });

  it('tells of effects that run again, and after which crash', async () => {
    const { problems } = await rehearse({ server, tool: 'careless' });
    expect(problems).toContain(
      'As a task that was killed after pay, note, "pay" ran 2 times. In the session, it ran once.',
    );
    expect(problems.join()).not.toMatch(/"note" ran|Without a session/);
  });

  it('tells of other results, also for tools that run only as tasks', async () => {
    const { problems, session, replay, task } = await rehearse({ server, tool: 'forgetful' });
    expect([session, replay, task].map((run) => run?.result.content)).toEqual(
      Array.from({ length: 3 }, () => [{ type: 'text', text: 'Run 1' }]),
    );
    expect(problems).toContain(
      'As a task that was killed after note, the result is [[{"type":"text","text":"Run 2"}],null]. In the session, it is [[{"type":"text","text":"Run 1"}],null].',
    );
  });

  it('plays the others as calls only', async () => {
    const { task, crashes, problems } = await rehearse({ server, tool: 'plain' });
    expect({ task, crashes, problems }).toEqual({ task: undefined, crashes: [], problems: [] });
  });

  it('fails if the server keeps its tasks elsewhere', async () => {
    const elsewhere = ({ record, secret }: Rehearsal) =>
      new McpServer({ name: 'shop', version: '1', secret, providers: [new Shop(record)], plugins: [tasks()] });
    await expect(rehearse({ server: elsewhere, tool: 'forgetful' })).rejects.toThrow(
      '"forgetful" runs as a task, but not in the store of the rehearsal. Pass it: tasks({ store })',
    );
  });
});
