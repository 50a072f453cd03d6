import { McpServer, type Principal } from '@decorum/core';
import { type Auth, MemoryEventStore, MemorySessionStore } from '@decorum/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { IsString } from 'class-validator';

import { Weather } from './weather.js';

export { Weather };

/** For the README of the package. */
export const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [Weather] });

interface User {
  readonly id: string;
  readonly scopes: readonly string[];
}

/** A function that the page leaves to the reader. */
export async function verifyToken(authorization: string | undefined): Promise<User | undefined> {
  return authorization === 'Bearer secret' ? { id: 'ada', scopes: [] } : undefined;
}

export function handleOAuth(_request: unknown, _response: unknown): void {}

export async function findCaller(authorization: string | undefined): Promise<Principal | undefined> {
  const user = await verifyToken(authorization);
  return user && { subject: user.id, scopes: ['mcp'] };
}

export declare const auth: Auth;

declare module 'fastify' {
  interface FastifyRequest {
    user: { id: string };
  }
}

export async function authenticate(request: FastifyRequest, _reply: FastifyReply): Promise<void> {
  request.user = { id: 'ada' };
}

export class RedisSessionStore extends MemorySessionStore {
  constructor(readonly redis: object) {
    super();
  }
}

export class RedisEventStore extends MemoryEventStore {
  constructor(readonly redis: object) {
    super();
  }
}

/** A Redis client. */
export const redis = {};

/** The global object of another runtime. */
export declare const Deno: {
  serve(
    handler: (request: Request, info: { readonly remoteAddr: { readonly hostname: string } }) => Promise<Response>,
  ): void;
};

export class ReportQuery {
  @IsString() topic!: string;
}

export declare class Self {
  readonly reports: { build(query: ReportQuery): Promise<string> };
}
