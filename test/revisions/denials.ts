// Denials for callers that lack scopes.
import { type McpServer, type Principal } from '@decorum/core';
import { IsString } from 'class-validator';

import { RawClient, type RawTransport } from '../support/raw-client.js';
import type { Revision } from '../support/requirements.js';

/** Arguments with a name. */
export class Named {
  @IsString()
  name!: string;
}

/** A caller without scopes. */
export const NEW: Principal = { subject: 'ada' };

/** The message for anonymous callers. */
export const UNAUTHORIZED = 'Authorization is required.';
/** The message for callers that lack scopes. */
export const LACKING = 'The caller lacks scopes that this request needs.';
/** A denial that lists these scopes. */
export const denied = (message: string, scopes: readonly string[]) => ({ code: -32600, message, data: { scopes } });

/** The caller and its transport. */
export interface Caller {
  readonly principal?: Principal | undefined;
  readonly transport?: RawTransport;
  readonly begins?: boolean;
}

/** Connects a client. */
export const connect = async (server: McpServer, revision: Revision, { principal, transport, ...rest }: Caller = {}) =>
  await RawClient.connect(server, { revision, ...rest, ...(principal && { principal }) }, transport);
