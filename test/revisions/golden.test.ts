// Golden messages: see `transcript.ts`.
import { describe, it } from '@jest/globals';

import { RAW_TRANSPORTS } from '../support/raw-client.js';
import { REVISIONS, shows } from '../support/requirements.js';
import { golden } from './golden-servers.js';
import { perform, transcriptsOf } from './transcript.js';

const CASES = REVISIONS.flatMap((revision) =>
  transcriptsOf(revision).flatMap((transcript) =>
    Object.entries(RAW_TRANSPORTS).map(([medium, transport]) => ({
      name: shows(transcript.row, revision, `${transcript.title}, over ${medium}`),
      run: () => perform(transcript, { server: golden(transcript.server), revision, transport }),
    })),
  ),
);

describe('The golden transcript', () => {
  it.each(CASES)('$name', ({ run }) => run());
});
