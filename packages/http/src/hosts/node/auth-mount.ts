import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

/** A handler of Node requests at paths of its own, such as the endpoints of an authorization server. */
export interface AuthMount {
  /**
   * Paths from the root of the origin, as clients send them. A path that ends with `/`, such as `/authorize/`, also
   * covers everything below it. Nothing else serves these paths, whatever the method.
   */
  readonly paths: readonly string[];
  /**
   * Answers a request to an allowed host, from pages of any origin. If a body parser of the application has read the
   * body, `request.readable` is false, and the body is in `request.body`. Only the handler writes to the response. If it
   * throws, the error is reported, and the client gets a 500 without details, or loses its connection if an answer has
   * begun.
   */
  handle(
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
  ): void | Promise<void>;
}
