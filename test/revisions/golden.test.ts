// Golden messages: see `transcript.ts`.
import { describe } from '@jest/globals';

import { RAW_TRANSPORTS } from '../support/raw-client.js';
import { itShows, REVISIONS } from '../support/requirements.js';
import { golden } from './golden-servers.js';
import { perform, transcriptsOf } from './transcript.js';

describe('The golden transcript', () => {
  // each over one medium, in turn
  const media = Object.entries(RAW_TRANSPORTS);
  for (const [turn, revision] of REVISIONS.entries())
    for (const [index, transcript] of transcriptsOf(revision).entries()) {
      const [medium, transport] = media[(turn + index) % media.length] as (typeof media)[number];
      itShows([[transcript.row, revision]], `${transcript.title}, over ${medium}`, () =>
        perform(transcript, { server: golden(transcript.server), revision, transport }),
      );
    }
});
