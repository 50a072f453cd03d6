import type { Exchange } from '../protocol/exchange.js';
import type { LogLevel } from '../protocol/model.js';
import { loggable } from '../text/loggable.js';
import { redactSecrets } from '../text/redact.js';

/**
 * Sends log messages to a request's client, at or above the level that the client asked for. Values that look like
 * secrets are sent as "[redacted]": members such as `password` and `apiKey`, and tokens and keys within text. Errors
 * are sent with name and message only, without stack traces or paths.
 *
 * Deprecated by the specification in 2026-07-28. For logs that the operator should see, use stderr or OpenTelemetry.
 */
export class ClientLog {
  readonly #exchange: Exchange;

  /** @param exchange the request to log for */
  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /**
   * @param data text or any JSON value. The client sees it, so include no personal data, and don't rely on redaction,
   *   which recognizes only common secrets
   * @param logger name of the server component that logs
   */
  write(level: LogLevel, data: unknown, logger?: string): void {
    if (!this.#exchange.logs(level)) return;
    this.#exchange.notify('notifications/message', {
      level,
      ...(logger !== undefined && { logger }),
      data: redactSecrets(loggable(data)),
    });
  }

  debug(data: unknown, logger?: string): void {
    this.write('debug', data, logger);
  }

  info(data: unknown, logger?: string): void {
    this.write('info', data, logger);
  }

  notice(data: unknown, logger?: string): void {
    this.write('notice', data, logger);
  }

  warning(data: unknown, logger?: string): void {
    this.write('warning', data, logger);
  }

  error(data: unknown, logger?: string): void {
    this.write('error', data, logger);
  }

  critical(data: unknown, logger?: string): void {
    this.write('critical', data, logger);
  }

  alert(data: unknown, logger?: string): void {
    this.write('alert', data, logger);
  }

  emergency(data: unknown, logger?: string): void {
    this.write('emergency', data, logger);
  }
}
