// A proxy of the server at UPSTREAM, over HTTP.
import { proxy } from '@decorum/client';
import { McpServer } from '@decorum/core';
import { listen } from '@decorum/http';

const upstream = String(process.env['UPSTREAM']);
const source = proxy(upstream, { forward: { sampling: true, roots: true } });
const server = new McpServer({ name: 'proxied', version: '1.0.0', providers: [source] });
const { url } = await listen(server, { port: 0 });
process.stdout.write(`Listening on ${url}\n`);
