import { randomBytes } from 'node:crypto';

import { authorizationServer } from '@decorum/auth-server';
import { listen } from '@decorum/http';

import { createGateway } from './gateway.js';
import { startGeo } from './geo.js';
import { startStockApi } from './stock-api.js';
import { DemoUsers } from './users.js';

const random = () => randomBytes(9).toString('base64url');
const port = Number(process.env['PORT'] || 3000);
const { GATEWAY_PASSWORD: password = random() } = process.env;

// elsewhere, these would be servers of others
const [geoKey, stockKey] = [random(), random()];
const [geoUrl, stockUrl] = await Promise.all([startGeo(geoKey), startStockApi(stockKey)]);

const auth = authorizationServer({
  resource: `http://127.0.0.1:${port}/mcp`,
  scopes: ['mcp'],
  consent: { mcp: 'Use this gateway', 'billing:pay': 'Pay invoices', admin: 'Administer' },
  users: new DemoUsers(password),
  // allows http on this machine, for the example
  allowLoopbackHttp: true,
});
const { url } = await listen(await createGateway({ geoUrl, geoKey, stockUrl, stockKey }), { auth, port });
console.log(`Serving ${url}`);
console.log(`Sign in as alice or bob, with the password ${password}`);
console.log(`Try it: claude mcp add --transport http gateway ${url}`);
