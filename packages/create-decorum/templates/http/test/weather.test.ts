import { connect } from '@decorum/testing';
import { expect, it } from 'vitest';

import { server } from '../src/weather.js';

it('knows tomorrow', async () => {
  const client = await connect(server);
  expect(await client.callTool('forecast', { city: 'Oslo' })).toMatchObject({
    content: [{ text: expect.stringContaining('snow') }],
  });
  await client.close();
});

it('tells the model where to find the cities', async () => {
  const client = await connect(server);
  expect(await client.callTool('forecast', { city: 'Atlantis' })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('weather://cities') }],
  });
  const { contents } = await client.readResource('weather://cities');
  expect(contents).toMatchObject([{ text: '["Oslo","Rome"]' }]);
  await client.close();
});
