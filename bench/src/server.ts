import { listen } from '@decorum/http';

import { createBenchServer } from './bench-server.js';

const { PORT = '3000', BENCH_TOOLS = '0' } = process.env;
const { url } = await listen(createBenchServer(Number(BENCH_TOOLS)), { port: Number(PORT), host: '127.0.0.1' });
console.log(`Listening on ${url}`);
