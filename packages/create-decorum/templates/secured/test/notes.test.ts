import { connect } from '@decorum/testing';
import { expect, it } from 'vitest';

import { server } from '../src/notes.js';

const ada = { issuer: 'https://id.example.com', subject: 'ada', scopes: ['notes:write'] };

it('keeps the notes of each user apart', async () => {
  const [hers, his] = await Promise.all([
    connect(server, { principal: ada }),
    connect(server, { principal: { ...ada, subject: 'bob' } }),
  ]);
  await hers.callTool('add', { text: 'Buy milk' });
  expect(await hers.callTool('list')).toMatchObject({ content: [{ text: 'Buy milk' }] });
  expect(await his.callTool('list')).toMatchObject({ content: [{ text: 'You have no notes.' }] });
  await Promise.all([hers.close(), his.close()]);
});

it('keeps no note without the scope', async () => {
  const client = await connect(server, { principal: { ...ada, subject: 'eve', scopes: [] } });
  await expect(client.callTool('add', { text: 'Buy milk' })).rejects.toThrow('scopes');
  expect(await client.callTool('list')).toMatchObject({ content: [{ text: 'You have no notes.' }] });
  await client.close();
});
