// Golden messages: see `transcript.ts`.
import { describe, it } from '@jest/globals';

import { CARRIERS } from '../support/raw-client.js';
import { REVISIONS, shows } from '../support/requirements.js';
import { golden } from './golden-servers.js';
import { perform, transcriptsOf } from './transcript.js';

const CASES = REVISIONS.flatMap((revision) =>
  transcriptsOf(revision).flatMap((transcript) =>
    Object.entries(CARRIERS).map(([medium, carrier]) => ({
      name: shows(transcript.row, revision, `${transcript.title}, over ${medium}`),
      run: () => perform(transcript, { server: golden(transcript.server), revision, carrier }),
    })),
  ),
);

describe('The golden transcript', () => {
  it.each(CASES)('$name', ({ run }) => run());
});
