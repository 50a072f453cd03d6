import type { AnswerHeaders, Sink } from '../../endpoint/http-context.js';

/** Where the response to an event goes. Each event gets one response. */
export interface EventOutput {
  /** Whether nobody reads the response any more. */
  readonly gone: boolean;
  /** Sends a complete response. */
  answer(status: number, headers: AnswerHeaders, body: string): void;
  /**
   * Starts a streamed response with status 200.
   * @param onGone called when its reader disconnects
   */
  open(headers: AnswerHeaders, onGone: () => void): Sink;
  /** Fails, because sending the response has failed. */
  drop(): void;
}
