import { serveStdio } from '@decorum/core';

import { createServer } from './weather.js';

await serveStdio(createServer());
