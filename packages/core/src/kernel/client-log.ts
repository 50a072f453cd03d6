import type { Exchange } from '../protocol/exchange.js';
import type { LogLevel } from '../protocol/model.js';
import { loggable } from '../text/loggable.js';
import { redactSecrets } from '../text/redact.js';

/**
 * Writes log messages to the client of one request: those at or above the level that the client asked for. What looks
 * like a secret is sent as "[redacted]": members such as `password` and `apiKey`, tokens and keys within texts. Of an
 * error the client sees the name and the message, without stack and folders.
 * The specification has deprecated this in 2026-07-28; for the operator's eyes, log to stderr or to OpenTelemetry.
 */
export class ClientLog {
  readonly #exchange: Exchange;

  /** @param exchange the request whose client is written to */
  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /**
   * @param data text or anything that can be written as JSON. The client sees it: nothing personal, and no secrets, of
   * which only the usual ones are recognised
   * @param logger names the part of the server that speaks
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
