import { serveStdio } from '@decorum/core';

import { server } from './server.js';

await serveStdio(server);
