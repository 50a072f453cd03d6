import { type Context, type McpServer, type Principal } from '@decorum/core';

import type { Answer } from '../support/raw-client.js';
import { serverWith } from './servers.js';

export const ADA: Principal = { subject: 'ada' };
export const EVE: Principal = { subject: 'eve' };
export const SECRET = 'thirty-two characters are enough';

/** The parts of the URL of one visit. */
export interface Visit {
  readonly id: string;
  readonly ticket: string;
}

/** Capabilities of a client that supports URL visits. */
export const capabilities = { elicitation: { form: {}, url: {} } };

/** URL that users visit. */
export const page = ({ id, ticket }: Visit) => `https://bank.example/connect/${id}?ticket=${ticket}`;

/** An answer with this user action. */
export const doing =
  (action: string): Answer =>
  () => ({ result: { action } });

/** A server with a tool that needs the user's bank account. */
export class Bank {
  readonly linked = new Set<string | undefined>();
  readonly visits: Visit[] = [];
  readonly server: McpServer;

  constructor(options: { readonly secret?: string | string[]; readonly requestStateTtlMs?: number } = {}) {
    const url = (visit: Visit) => {
      this.visits.push(visit);
      return page(visit);
    };
    const balance = async (context: Context) => {
      const subject = context.principal?.subject;
      if (!this.linked.has(subject)) await context.requireUrl({ message: 'Link your bank account', url });
      return this.linked.has(subject) ? '12 €' : 'Not linked yet.';
    };
    const link = async (context: Context) => (await context.elicitUrl({ message: 'Link', url })).action;
    this.server = serverWith({ balance, link }, { secret: SECRET, ...options });
  }
}
