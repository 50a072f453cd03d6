import type { Principal } from '@decorum/core';
import { revisionOf } from '@decorum/core/internal';

import { acceptedBy, requireKnownVersion } from '../endpoint/headers.js';
import { type HttpContext, type Sink, STREAM_HEADERS, transportInfo } from '../endpoint/http-context.js';
import { closing, HttpError, noSession, sessionIdMissing, streamNotAccepted } from '../endpoint/http-error.js';
import type { HttpSession } from '../sessions/session.js';
import type { ExchangeParts } from './exchange-parts.js';

/** Stream, process and position. */
const EVENT_ID = /^([gp][\w-]{8})(?:\.(\w{1,16}))?-(\d{1,9})$/;

/**
 * Handles a GET: opens a stream for messages that belong to no request, or resumes a stream.
 * @throws {HttpError} 4xx or 503
 */
export async function openStream(context: HttpContext, parts: ExchangeParts): Promise<void> {
  const { headers } = context;
  if (parts.isBrief) throw new HttpError(405, 'This server keeps no streams open. Use POST.', { allow: 'POST' });
  const session = await sessionOf(context, parts);
  const accepted = acceptedBy(headers.accept);
  if (accepted === 'json' || accepted === 'neither') throw streamNotAccepted();
  const requireCurrent = () => parts.gate?.requireUnrevoked(context.principal, true);
  requireCurrent();
  const begin = () => {
    requireCurrent();
    return context.open(STREAM_HEADERS);
  };
  session.transport = transportInfo(context, parts.credentials);
  const from = headers['last-event-id'];
  if (from !== undefined) return await resume(session, from, { begin, reader: context.principal });
  const stream = session.streams.open();
  stream.reader = context.principal;
  stream.attach(begin());
  stream.prime();
  session.announce();
  stream.flush();
}

/**
 * Handles a DELETE: ends a session.
 * @throws {HttpError} 4xx or 503
 */
export async function endSession(context: HttpContext, parts: ExchangeParts): Promise<void> {
  await parts.sessions.delete(await sessionOf(context, parts));
  context.answer(204);
}

/** @throws {HttpError} 404 or 401 if the session is not the caller's, or no longer */
async function sessionOf(context: HttpContext, parts: ExchangeParts): Promise<HttpSession> {
  const { headers } = context;
  if (parts.stopped) throw closing();
  const version = headers['mcp-protocol-version'];
  if (revisionOf(version)?.sessions === false) {
    throw new HttpError(405, 'This MCP revision supports only POST.', { allow: 'POST' });
  }
  if (!parts.keepsSessions) throw new HttpError(405, 'This server keeps no sessions.', { allow: 'POST' });
  requireKnownVersion(version);
  const id = headers['mcp-session-id'];
  if (id === undefined) throw sessionIdMissing();
  const found = await parts.sessions.find(id, context);
  // the endpoint may have closed while the store was busy, and nothing would end a stream that starts now
  if (parts.stopped) throw closing();
  const session = parts.sessions.stillOwned(found, context);
  if (session === undefined) throw noSession();
  return session;
}

interface Resuming {
  /** Starts the response. */
  begin(): Sink;
  readonly reader: Principal | undefined;
}

async function resume(session: HttpSession, eventId: string, { begin, reader }: Resuming): Promise<void> {
  const [, id, node, position] = EVENT_ID.exec(eventId) ?? [];
  if (id === undefined) throw unknownEvent();
  const stream = session.streams.lost(id, node);
  const open = () => {
    stream.reader = reader;
    return begin();
  };
  try {
    if (!(await stream.resume(Number(position), open, node))) throw unknownEvent();
  } finally {
    if (stream.ended) session.streams.close(stream);
  }
  if (stream.kind === 'g') session.announce();
}

function unknownEvent(): HttpError {
  return new HttpError(400, 'The Last-Event-ID header matches no event of this session.');
}
