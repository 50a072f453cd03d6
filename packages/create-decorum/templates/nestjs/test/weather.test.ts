import { McpServer } from '@decorum/core';
import { connect } from '@decorum/testing';
import { type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { AppModule } from '../src/app.module.js';

let app: INestApplicationContext;
beforeAll(async () => {
  app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
});
afterAll(async () => {
  await app.close();
});

it('knows tomorrow', async () => {
  const client = await connect(app.get(McpServer));
  expect(await client.callTool('forecast', { city: 'Oslo' })).toMatchObject({
    content: [{ text: expect.stringContaining('snow') }],
  });
  await client.close();
});

it('tells the model where to find the cities', async () => {
  const client = await connect(app.get(McpServer));
  expect(await client.callTool('forecast', { city: 'Atlantis' })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('weather://cities') }],
  });
  const { contents } = await client.readResource('weather://cities');
  expect(contents).toMatchObject([{ text: '["Oslo","Rome"]' }]);
  await client.close();
});
