import { listen } from '@decorum/http';

import { createBenchServer } from './bench-server.js';
import { reportTo } from './usage.js';

const { PORT = '3000', BENCH_TOOLS = '0' } = process.env;
const listening = await listen(createBenchServer(Number(BENCH_TOOLS)), { port: Number(PORT), host: '127.0.0.1' });
console.log(`Listening on ${listening.url}`);
reportTo(process, listening.url);
