import type { ObservedRequest, Outcome } from '@decorum/core';

import { CALLER_ERRORS, CLIENT_CODES, LABEL, OTHER } from './names.js';

/** Labels of a series. */
export type Labels = Record<string, string>;

/** The values that distinguish the series of requests. Clients can't invent them. */
export interface Facts {
  readonly method: string;
  readonly target: string | undefined;
  readonly revision: string | undefined;
  readonly transport: string;
  readonly status: Outcome['status'];
  readonly code: Outcome['code'];
}

/** The method, if the server knows it. */
export const methodOf = ({ known, method }: ObservedRequest): string => (known ? method : OTHER);

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

/** The labels that describe how something failed; empty if it didn't. */
export function endLabels({ status, code }: Pick<Facts, 'status' | 'code'>, isCaller = false): Labels {
  const type = errorType(status, code, isCaller);
  return {
    ...(type !== undefined && { [LABEL.errorType]: type }),
    ...(code !== undefined && { [LABEL.code]: String(code) }),
  };
}

/** The same for the series of questions, without codes that clients invent: each would be a new series. */
export const askedEndLabels = ({ status, code }: Pick<Facts, 'status' | 'code'>): Labels =>
  endLabels({ status, code: CLIENT_CODES.has(code) ? code : undefined }, true);

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
export const callLabels = ({ method, target, status }: Facts): Labels => ({
  [LABEL.method]: method,
  ...(target !== undefined && { [LABEL.member]: target }),
  [LABEL.outcome]: status,
});
