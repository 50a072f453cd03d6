// The same story in every revision, over everything that needs no network. Each message is judged: see RawClient.
import { describe, it } from '@jest/globals';

import { CARRIERS, RawClient } from '../support/raw-client.js';
import { SESSION_REVISIONS } from '../support/requirements.js';
import { beAsked, cancel, hear, storyAnswers, storyCapabilities, storyServer, Storyteller, use } from './story.js';

const CASES = SESSION_REVISIONS.flatMap((revision) =>
  Object.entries(CARRIERS).map(([medium, carrier]) => ({ revision, medium, carrier })),
);

describe('A client', () => {
  it.each(CASES)(
    'of $revision lists, calls, reads, gets, completes, is asked, hears and cancels over $medium',
    async ({ revision, carrier }) => {
      const teller = new Storyteller();
      const server = storyServer(teller);
      const options = { revision, capabilities: storyCapabilities(revision), answers: storyAnswers(revision) };
      const client = await RawClient.connect(server, options, carrier);
      await use(client);
      await beAsked(client);
      await hear(client, server);
      await cancel(client, teller);
    },
  );
});
