import { McpServer } from '@decorum/core';
import { fetchHandler, type FetchHandler } from '@decorum/http/fetch';

import { Weather } from './weather.js';

export { fetchHandler };

export const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [Weather] });
export const handler: FetchHandler = fetchHandler(server);
export const request = new Request('http://127.0.0.1:3000/mcp');

type Address = { readonly port: number; readonly hostname: string };

interface BunServer {
  requestIP(request: Request): { readonly address: string; readonly port: number } | null;
  readonly port: number;
}

/** The parts of the runtimes and Elysia that the page uses. */
export declare const Bun: {
  serve(
    options: Address & {
      idleTimeout: number;
      fetch(request: Request, server: BunServer): Promise<Response> | Response;
    },
  ): BunServer;
};

export declare const Deno: {
  serve(
    address: Address,
    handler: (request: Request, info: { remoteAddr: { hostname: string } }) => Promise<Response> | Response,
  ): unknown;
};

export declare class Elysia {
  all(path: string, handle: (context: { request: Request }) => Promise<Response>, options: { parse: 'none' }): this;
  listen(port: number): this;
}
