import type { Attributes } from '@opentelemetry/api';
import type { ObservedRequest, RequestOutcome } from '@decorum/core/plugin';

import {
  ATTRIBUTE,
  CALLER_ERRORS,
  CLIENT_CODES,
  PROMPT_METHOD,
  RESOURCE_METHODS,
  TOOL_METHOD,
  VALUE,
} from './names.js';

/** Cap on the characters of ids and URIs in a span, because clients choose them. */
const MAX_SENT_CHARS = 1024;

/** The first characters of a text that a client has sent. */
export const cut = (text: string, max: number = MAX_SENT_CHARS): string =>
  text.length <= max ? text : `${text.slice(0, max)}…`;

/** The origin of a message. Requests, sessions and questions all have these properties. */
export interface Origin {
  readonly revision: string | undefined;
  readonly transport: string;
  readonly httpVersion?: string | undefined;
}

/** The values that name a span and a series. Clients can't invent them. */
export interface Named {
  readonly method: string;
  readonly tool?: string | undefined;
  readonly prompt?: string | undefined;
  readonly alias?: string | undefined;
}

/** The method and member of a request, if the server has registered them. */
export function namesOf({ method, known, target, alias }: ObservedRequest): Named {
  if (!known) return { method: VALUE.other };
  if (method === TOOL_METHOD) return { method, tool: target, alias };
  return method === PROMPT_METHOD ? { method, prompt: target, alias } : { method };
}

/** The name of a span. */
export const spanName = ({ method, tool, prompt }: Named): string => {
  const target = tool ?? prompt;
  return target === undefined ? method : `${method} ${target}`;
};

/** The attributes of a session and its metric. */
export function originAttributes({ revision, transport, httpVersion }: Origin): Attributes {
  const attributes: Attributes = {};
  if (revision !== undefined) attributes[ATTRIBUTE.revision] = revision;
  if (transport === 'stdio') attributes[ATTRIBUTE.transport] = VALUE.pipe;
  if (transport === 'http') {
    attributes[ATTRIBUTE.transport] = VALUE.tcp;
    attributes[ATTRIBUTE.protocol] = VALUE.http;
    if (httpVersion !== undefined) attributes[ATTRIBUTE.protocolVersion] = httpVersion;
  }
  return attributes;
}

/** The attributes that spans and metrics of a request have in common. */
export function commonAttributes(named: Named, origin: Origin): Attributes {
  const attributes = originAttributes(origin);
  attributes[ATTRIBUTE.method] = named.method;
  if (named.method === TOOL_METHOD) attributes[ATTRIBUTE.operation] = VALUE.executeTool;
  if (named.tool !== undefined) attributes[ATTRIBUTE.tool] = named.tool;
  if (named.prompt !== undefined) attributes[ATTRIBUTE.prompt] = named.prompt;
  if (named.alias !== undefined) attributes[ATTRIBUTE.alias] = named.alias;
  return attributes;
}

/** Attributes that only spans have, because clients choose their values. */
export function sentAttributes(request: ObservedRequest): Attributes {
  const attributes: Attributes = {};
  const { method, known, id, session, remoteAddress, remotePort, uri } = request;
  if (!known) attributes[ATTRIBUTE.method] = cut(method, 128);
  if (id !== undefined) attributes[ATTRIBUTE.requestId] = cut(String(id));
  if (session !== undefined) attributes[ATTRIBUTE.session] = session;
  if (uri !== undefined && RESOURCE_METHODS.has(method)) attributes[ATTRIBUTE.uri] = cut(uri);
  if (remoteAddress !== undefined) attributes[ATTRIBUTE.clientAddress] = cut(remoteAddress, 128);
  if (remotePort !== undefined) attributes[ATTRIBUTE.clientPort] = remotePort;
  return attributes;
}

type Ended = Pick<RequestOutcome, 'status' | 'code' | 'cause'>;

/** The attributes that describe how a request or question failed; empty if it didn't. */
export function endAttributes({ status, code, cause }: Ended, isCaller = false): Attributes {
  const attributes: Attributes = {};
  if (cause !== undefined) attributes[ATTRIBUTE.cause] = cause;
  if (code !== undefined) attributes[ATTRIBUTE.code] = String(code);
  const type = errorType(status, code, isCaller);
  if (type !== undefined) attributes[ATTRIBUTE.errorType] = type;
  return attributes;
}

/** The same for the series of questions, without codes that clients invent: each would be a new series. */
export const askedEndAttributes = ({ status, code, cause }: Ended): Attributes =>
  endAttributes({ status, code: CLIENT_CODES.has(code) ? code : undefined, cause }, true);

function errorType(
  status: RequestOutcome['status'],
  code: RequestOutcome['code'],
  isCaller: boolean,
): string | undefined {
  if (status === 'cancelled') return VALUE.cancelled;
  if (status === 'tool-error') return VALUE.toolError;
  if (status !== 'error') return undefined;
  if (code === undefined) return VALUE.other;
  return isCaller || !CALLER_ERRORS.has(code) ? String(code) : undefined;
}
