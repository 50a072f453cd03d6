import { ToolError } from '../../protocol/errors.js';
import type { Exchange } from '../../protocol/exchange.js';
import { withFailureCause } from '../../protocol/failure-cause.js';
import type { ErrorReporter } from '../error-reporter.js';
import { MemoryFull } from './kept-values.js';

/** How the run of a member has ended. */
type Ended = { readonly kind: string; readonly result?: object };

/**
 * Writes what a run wants to remember, if it has completed.
 * @throws {ToolError} if it would be too much
 * @throws {McpError} `unavailable` if the store can't be reached
 */
export async function endMemory(
  exchange: Exchange,
  { kind, result }: Ended,
  reporter: Pick<ErrorReporter, 'warn'>,
): Promise<void> {
  const isError = (result as { readonly isError?: unknown } | undefined)?.isError === true;
  const isDue = kind === 'complete' && !isError && !exchange.over && exchange.fault === undefined;
  try {
    await exchange.remembered?.end(isDue);
  } catch (error) {
    if (!(error instanceof MemoryFull)) throw error;
    const { name, uri } = exchange.params;
    reporter.warn({ method: exchange.method, member: name ?? uri }, `ctx.memory: a caller would have ${error.message}`);
    const text = `The server would have to remember ${error.message} for you. Nothing was changed. Remove something first.`;
    throw withFailureCause(new ToolError(text, { cause: error }), 'limit');
  }
}
