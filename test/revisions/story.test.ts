// The same story in every revision over every transport. RawClient validates each message.
import { describe, it } from '@jest/globals';

import { transportsOf, overHttp } from '../support/http-transports.js';
import { RawClient } from '../support/raw-client.js';
import { REVISIONS, SESSION_REVISIONS } from '../support/requirements.js';
import {
  beAsked,
  cancel,
  comeBack,
  follow,
  hear,
  storyAnswers,
  storyCapabilities,
  storyServer,
  Storyteller,
  use,
} from './story.js';

const CASES = REVISIONS.flatMap((revision) =>
  Object.entries(transportsOf(revision)).map(([medium, transport]) => ({ revision, medium, transport })),
);

const RESUMING = SESSION_REVISIONS.filter((revision) => revision > '2024-11-05');

describe('A client', () => {
  it.each(CASES)('of $revision uses the whole protocol over $medium', async ({ revision, transport }) => {
    const teller = new Storyteller();
    const server = storyServer(teller);
    const capabilities = storyCapabilities(revision);
    const client = await RawClient.connect(
      server,
      { revision, capabilities, answers: storyAnswers(revision) },
      transport,
    );
    await use(client);
    await beAsked(client);
    await hear(client);
    await follow(client, server);
    await cancel(client, teller);
  });

  it.each(RESUMING)('of %s reconnects over HTTP for missed messages', async (revision) => {
    const teller = new Storyteller();
    const client = await RawClient.connect(storyServer(teller), { revision }, overHttp);
    await comeBack(client, teller);
  });
});
