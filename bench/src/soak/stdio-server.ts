// A server process for one client over stdin and stdout.
import { serveStdio } from '@decorum/core';

import { createSoakServer } from './soak-server.js';

await serveStdio(createSoakServer().server);
