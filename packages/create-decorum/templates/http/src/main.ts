import { listen } from '@decorum/http';

import { server } from './weather.js';

const { PORT = '3000', HOST = '127.0.0.1', ALLOWED_HOSTS = '' } = process.env;
const { url } = await listen(server, {
  port: Number(PORT),
  host: HOST,
  allowedHosts: ALLOWED_HOSTS.split(',').filter(Boolean),
});
console.log(`Serving ${url}`);
