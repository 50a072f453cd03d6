import { McpServer, serveStdio } from '@decorum/core';
import { fileTasks, tasks } from '@decorum/tasks';

import { Reports } from './reports.js';
import { Sales } from './sales.js';
import { Site } from './site.js';

const { DATA = 'data', COOL_DOWN_MS = '60000', PORT } = process.env;
const reports = new Reports(new Sales(), new Site(`${DATA}/site`), Number(COOL_DOWN_MS));

const server = new McpServer({
  name: 'reports',
  version: '1.0.0',
  providers: [reports],
  plugins: [tasks({ store: fileTasks(`${DATA}/tasks`) })],
});

if (process.argv.includes('--stdio')) await serveStdio(server);
else {
  const { listen } = await import('@decorum/http');
  console.log(`Serving ${(await listen(server, { port: Number(PORT || 3000) })).url}`);
}
