import type { IncomingMessage, ServerResponse } from 'node:http';

import { isPromise } from '@decorum/core/internal';

import type { MountHosts } from '../../auth/mount.js';
import { errorAnswer, internalError } from '../../endpoint/answer.js';
import { isFlooding } from './answers.js';
import type { AuthMount } from './auth-mount.js';
import { NodeContext } from './context.js';
import type { NodeRequest } from './head.js';

/** A request for a mount. */
export interface MountRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Path and query as sent. */
  readonly url: string;
  readonly hosts: MountHosts;
  /** Reports errors that must not reach clients. */
  readonly report: (error: unknown) => void;
}

/** Lets a mount answer a request from an allowed host. Never throws. */
export function serveMount(mount: AuthMount, { request, response, url, hosts, report }: MountRequest): void {
  if (response.socket === null && isFlooding(response)) return;
  const context = new NodeContext<NodeRequest>(request, response, request);
  try {
    hosts.check(context.headers, context.localPort);
  } catch (error) {
    const { status, body, headers } = errorAnswer(error, report);
    return context.answer(status, body, headers);
  }
  const fail = (error: unknown) => {
    report(error);
    // the answer is complete
    if (response.writableEnded) return;
    if (response.headersSent) return context.drop();
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    context.answer(500, internalError());
  };
  try {
    // without the path that Express has removed, and without the host of an absolute URL, which nobody has checked
    request.url = url;
    const handled: unknown = mount.handle(request, response);
    if (isPromise(handled)) void Promise.resolve(handled).catch(fail);
  } catch (error) {
    fail(error);
  }
}
