import { type IncomingHttpHeaders, request } from 'node:http';

/** A response, with its body as text. */
export interface RawResponse {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Parts of the body. A function is called when the parts before it were sent; the body waits for its promise. */
  readonly body?: string | readonly (string | Buffer | (() => Promise<unknown>))[];
}

/** Sends a request with any headers, also those that `fetch` doesn't let callers set, such as `Host`. */
export async function rawRequest(url: string, { method = 'POST', headers = {}, body = [] }: RawRequest = {}) {
  const sent = request(url, { method, headers, agent: false });
  const response = new Promise<RawResponse>((resolve, reject) => {
    sent.on('error', reject).on('response', (received) => {
      let text = '';
      received.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      received.once('end', () => resolve({ status: received.statusCode, headers: received.headers, body: text }));
    });
  });
  for (const part of [body].flat()) {
    if (typeof part === 'function') await part();
    // the response may come, or the connection end, before the body was read
    else await Promise.race([new Promise((resolve) => sent.write(part, resolve)), response]);
  }
  sent.end();
  return response;
}
