// Serves the handlers. The effect is a line with the process id in the file EFFECTS. The keys come from DECORUM_SECRET.
// With `--stdio`, it serves over stdio; otherwise it serves HTTP and prints the URL.
import { appendFileSync } from 'node:fs';

import { serveStdio } from '@decorum/core';
import { listen } from '@decorum/http';

import { createServer } from './one-handler.js';

const note = (/** @type {string} */ flow) => appendFileSync(String(process.env['EFFECTS']), `${flow} ${process.pid}\n`);
const server = createServer(note);

if (process.argv.includes('--stdio')) await serveStdio(server);
else process.stdout.write(`${(await listen(server, { port: 0 })).url}\n`);
