import { listen } from '@decorum/http';

import { server } from './weather.js';

const { PORT, HOST, ALLOWED_HOSTS = '' } = process.env;
const { url } = await listen(server, {
  port: Number(PORT || 3000),
  host: HOST || '127.0.0.1',
  allowedHosts: ALLOWED_HOSTS.split(',').filter(Boolean),
});
console.log(`Serving ${url}`);
