import { connect } from '@decorum/testing';
import { expect, it } from 'vitest';

import { server } from '../src/server.js';

it('greets by name', async () => {
  const client = await connect(server);
  expect(await client.callTool('greet', { name: 'Ada' })).toMatchObject({ content: [{ text: 'Hello, Ada!' }] });
  await client.close();
});

it('tells the model which argument is wrong', async () => {
  const client = await connect(server);
  expect(await client.callTool('greet', {})).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('name') }],
  });
  await client.close();
});
