import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { serveStdio } from '@decorum/core';

import { GraphFile, locate } from './graph-file.js';
import { MemoryServer } from './memory-server.js';

const folder = dirname(fileURLToPath(import.meta.url));
const file = await locate(folder, process.env['MEMORY_FILE_PATH']);

await serveStdio(new MemoryServer(new GraphFile(file)));
