import { describe, expect, test } from '@jest/globals';

import { createBenchServer } from '../src/bench-server.js';
import { toolListOf } from '../src/parts.js';

describe('the measured server', () => {
  test('lists a thousand more tools shaped like add on one page', async () => {
    const { tools } = await toolListOf(createBenchServer(1000));
    expect(tools).toHaveLength(1004);
    const [few] = (await toolListOf(createBenchServer())).tools;
    expect(tools.find(({ name }) => name === 'add_1000')?.inputSchema).toEqual(few?.inputSchema);
  });
});
