import type { Attributes } from '@opentelemetry/api';
import type { ObservedRequest, Outcome } from '@decorum/core';

import {
  ATTRIBUTE,
  CALLER_ERRORS,
  CLIENT_CODES,
  PROMPT_METHOD,
  RESOURCE_METHODS,
  TOOL_METHOD,
  VALUE,
} from './names.js';

/** Characters of ids and URIs that a span keeps. Clients choose them. */
const MAX_SENT_CHARS = 1024;

/** The first characters of a text that a client has sent. */
export const cut = (text: string, max: number = MAX_SENT_CHARS): string =>
  text.length <= max ? text : `${text.slice(0, max)}…`;

/** Where a message comes from: what requests, sessions and questions have in common. */
export interface Origin {
  readonly revision: string | undefined;
  readonly transport: string;
  readonly httpVersion?: string | undefined;
}

/** What names a span and a series: nothing of it is invented by clients. */
export interface Named {
  readonly method: string;
  readonly tool?: string | undefined;
  readonly prompt?: string | undefined;
}

/** The method and member of a request, as far as the server has registered them. */
export function namesOf({ method, known, target }: ObservedRequest): Named {
  if (!known) return { method: VALUE.other };
  if (method === TOOL_METHOD) return { method, tool: target };
  return method === PROMPT_METHOD ? { method, prompt: target } : { method };
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
  return attributes;
}

/** What only spans have: values that clients choose. */
export function sentAttributes(request: ObservedRequest): Attributes {
  const attributes: Attributes = {};
  const { method, known, id, session, remoteAddress, remotePort, uri } = request;
  if (!known) attributes[ATTRIBUTE.method] = cut(method, 128);
  if (id !== undefined) attributes[ATTRIBUTE.requestId] = cut(String(id));
  if (session !== undefined) attributes[ATTRIBUTE.session] = session;
  if (uri !== undefined && RESOURCE_METHODS.has(method)) attributes[ATTRIBUTE.uri] = cut(uri);
  if (remoteAddress !== undefined) attributes[ATTRIBUTE.clientAddress] = remoteAddress;
  if (remotePort !== undefined) attributes[ATTRIBUTE.clientPort] = remotePort;
  return attributes;
}

/** The attributes that tell how a request or question has failed; empty if it has not. */
export function endAttributes({ status, code }: Pick<Outcome, 'status' | 'code'>, isCaller = false): Attributes {
  const attributes: Attributes = {};
  if (code !== undefined) attributes[ATTRIBUTE.code] = String(code);
  const type = errorType(status, code, isCaller);
  if (type !== undefined) attributes[ATTRIBUTE.errorType] = type;
  return attributes;
}

/** The same for the series of questions. Clients may invent codes, and each would be a new series. */
export const askedEndAttributes = ({ status, code }: Pick<Outcome, 'status' | 'code'>): Attributes =>
  endAttributes({ status, code: CLIENT_CODES.has(code) ? code : undefined }, true);

function errorType(status: Outcome['status'], code: Outcome['code'], isCaller: boolean): string | undefined {
  if (status === 'cancelled') return VALUE.cancelled;
  if (status === 'tool-error') return VALUE.toolError;
  if (status !== 'error') return undefined;
  if (code === undefined) return VALUE.other;
  return isCaller || !CALLER_ERRORS.has(code) ? String(code) : undefined;
}
