// docs/index.md: its server runs over stdio, and a client sees what the page says. Its figures are those of the page about
// performance.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { blocksOf, textOf } from './blocks.js';
import { PagePrograms } from './running.js';

const PAGE = 'docs/index.md';
const blockIn = (language: string) => blocksOf(PAGE).find((block) => block.language === language)?.text ?? '';

describe('the server of the first page', () => {
  const programs = new PagePrograms(PAGE);
  const client = new Client({ name: 'reader', version: '1.0.0' });

  beforeAll(async () => {
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [programs.programOf('Greeter')] }),
    );
  });
  afterAll(async () => {
    await client.close();
    programs.remove();
  });

  it('lists the tool that the page shows', async () => {
    const { tools } = await client.listTools();
    expect(tools).toEqual([JSON.parse(blockIn('json'))]);
  });

  it('answers calls as the page shows', async () => {
    const calls = [...blockIn('text').matchAll(/^greet (\{.*\})\n((?:.+\n)+)/gm)];
    expect(calls).toHaveLength(2);
    for (const [, args = '', answer = ''] of calls) {
      const result = await client.callTool({ name: 'greet', arguments: JSON.parse(args) });
      expect(result.content).toEqual([{ type: 'text', text: answer.trimEnd() }]);
    }
  });
});

describe('the figures of the first page', () => {
  const figures = textOf('docs/operate/performance.md');
  const first = textOf(PAGE);
  const cellsIn = (text: string, row: RegExp) =>
    (row.exec(text)?.[0] ?? '')
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());

  it('are those of the page about performance', () => {
    const [, ...names] = cellsIn(first, /^\|.*Decorum.*$/m);
    const [, ...shown] = cellsIn(first, /^\| CPU of a call.*$/m);
    const ratios = names.map((name) => {
      const row = name === 'Decorum' ? /^\| add +\| session .*$/m : new RegExp(`^\\| ${name}, session .*$`, 'm');
      return Number(cellsIn(figures, row)[name === 'Decorum' ? 4 : 1]);
    });
    expect(shown).toEqual(ratios.map((ratio) => (1 / ratio).toPrecision(2)));
    expect(first).toContain(`takes ${cellsIn(figures, /^\| sessions +\| idle .*$/m)[3]?.replace(' B', ' bytes')}.`);
  });
});
