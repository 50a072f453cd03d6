import type { IncomingMessage } from 'node:http';

import { McpServer, type Principal } from '@decorum/core';
import express, { type RequestHandler } from 'express';

import { Weather } from './weather.js';

export { nodeHandler } from '@decorum/http/node';

export const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [Weather] });
export const app = express();

export const authenticate: RequestHandler = (_request, _response, next) => next();

export const callerOf = (request: IncomingMessage): Principal | undefined => {
  const { user } = request as { readonly user?: { readonly id: string } };
  return user && { subject: user.id };
};
