import { McpServer, type Principal } from '@decorum/core';
import { type Auth, MemoryEventStore } from '@decorum/http';
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

/** A client of a store that keeps texts, and a store of events over it. */
export declare const cache: {
  read(key: string): Promise<string | null>;
  write(
    key: string,
    text: string,
    how: { ttlMs: number; version: number; expected: number | undefined },
  ): Promise<boolean>;
  expire(key: string, ttlMs: number): Promise<void>;
  remove(key: string): Promise<void>;
};

export class CachedEvents extends MemoryEventStore {
  constructor(readonly texts: object) {
    super();
  }
}

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
