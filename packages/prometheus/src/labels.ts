import { McpError } from '@decorum/core';
import type { ObservedRequest, RequestOutcome } from '@decorum/core/plugin';

import { CALLER_ERRORS, CLIENT_CODES, LABEL, OTHER } from './names.js';

/** Labels of a series. */
export type Labels = Record<string, string>;

/** The values that distinguish the series of requests. Clients can't invent them. */
export interface Facts {
  readonly method: string;
  readonly target: string | undefined;
  readonly revision: string | undefined;
  readonly transport: string;
  readonly status: RequestOutcome['status'];
  readonly code: RequestOutcome['code'];
  readonly cause: RequestOutcome['cause'];
}

/** The method, if the server knows it. */
export const methodOf = ({ known, method }: ObservedRequest): string => (known ? method : OTHER);

/**
 * The facts about a request.
 * @param namesHidden whether labels name members that are hidden from some callers
 */
export function factsOf(request: ObservedRequest, outcome: RequestOutcome, namesHidden: boolean): Facts {
  const { revision, transport, target } = request;
  const { status, code, cause } = outcome;
  const facts = { method: methodOf(request), target, revision, transport, status, code, cause };
  if (namesHidden || !request.targetHidden) return facts;
  // like an unknown name, so that nobody can probe for a hidden member
  return { ...facts, target: undefined, cause: publicCause(outcome) };
}

/** The cause to publish for a hidden member. Callers who lack a scope are told so, but others don't find it. */
function publicCause({ cause, error }: RequestOutcome): RequestOutcome['cause'] {
  const kind = error instanceof McpError ? error.kind : undefined;
  return cause === 'denied' && kind !== 'unauthorized' && kind !== 'insufficient-scope' ? 'not-found' : cause;
}

/** The labels of the counter of questions, besides its server. */
export const askedLabels = (method: string, { status, cause }: Pick<Facts, 'status' | 'cause'>): Labels => ({
  [LABEL.method]: method,
  [LABEL.outcome]: status,
  ...(cause !== undefined && { [LABEL.cause]: cause }),
});

const NETWORK: Readonly<Record<string, string>> = { http: 'tcp', stdio: 'pipe' };

/** The labels of a conversation: its revision and transport. */
export function originLabels({ revision, transport }: Pick<Facts, 'revision' | 'transport'>): Labels {
  const network = NETWORK[transport];
  return {
    ...(revision !== undefined && { [LABEL.revision]: revision }),
    ...(network !== undefined && { [LABEL.transport]: network }),
    ...(transport === 'http' && { [LABEL.protocol]: 'http' }),
  };
}

type Ended = Pick<Facts, 'status' | 'code' | 'cause'>;

/** The labels that describe how something failed; empty if it didn't. */
export function endLabels({ status, code, cause }: Ended, isCaller = false): Labels {
  const type = errorType(status, code, isCaller);
  return {
    ...(type !== undefined && { [LABEL.errorType]: type }),
    ...(code !== undefined && { [LABEL.code]: String(code) }),
    ...(cause !== undefined && { [LABEL.decorumCause]: cause }),
  };
}

/** The same for the series of questions, without codes that clients invent: each would be a new series. */
export const askedEndLabels = ({ status, code, cause }: Ended): Labels =>
  endLabels({ status, code: CLIENT_CODES.has(code) ? code : undefined, cause }, true);

function errorType(status: Facts['status'], code: Facts['code'], isCaller: boolean): string | undefined {
  if (status === 'cancelled') return 'cancelled';
  if (status === 'tool-error') return 'tool_error';
  if (status !== 'error') return undefined;
  if (code === undefined) return OTHER;
  return isCaller || !CALLER_ERRORS.has(code) ? String(code) : undefined;
}

/** The labels of the request duration. */
export function operationLabels(facts: Facts): Labels {
  const { method, target } = facts;
  return {
    [LABEL.method]: method,
    ...(method === 'tools/call' && { [LABEL.operation]: 'execute_tool' }),
    ...(target !== undefined && method === 'tools/call' && { [LABEL.tool]: target }),
    ...(target !== undefined && method === 'prompts/get' && { [LABEL.prompt]: target }),
    ...originLabels(facts),
    ...endLabels(facts),
  };
}

/** The labels of the call counter. */
export const callLabels = ({ method, target, status, cause }: Facts): Labels => ({
  [LABEL.method]: method,
  ...(target !== undefined && { [LABEL.member]: target }),
  [LABEL.outcome]: status,
  ...(cause !== undefined && { [LABEL.cause]: cause }),
});
