// Golden messages: see `transcript.ts`.
import { describe } from '@jest/globals';

import { RAW_TRANSPORTS } from '../support/raw-client.js';
import { itShows, REVISIONS } from '../support/requirements.js';
import { golden } from './golden-servers.js';
import { perform, transcriptsOf } from './transcript.js';

describe('The golden transcript', () => {
  for (const revision of REVISIONS)
    for (const transcript of transcriptsOf(revision))
      for (const [medium, transport] of Object.entries(RAW_TRANSPORTS))
        itShows([[transcript.row, revision]], `${transcript.title}, over ${medium}`, () =>
          perform(transcript, { server: golden(transcript.server), revision, transport }),
        );
});
