import type { JsonObject } from '@decorum/schema/internal';

/** How a tool shows what a call would do, before it does it. `By` is the name of a method. */
export interface PreviewOptions<By extends string = string> {
  /**
   * Name of the method of this class that makes the plan. It gets what the tool gets, and returns a JSON value, or a
   * promise of one.
   */
  readonly by: By;
  /** Whether to ask the user to confirm the plan, where the client can ask. Defaults to `false`. */
  readonly ask?: boolean;
  /** Milliseconds that the ticket of a plan is valid. Defaults to 600,000, which is 10 minutes. */
  readonly ttlMs?: number;
}

/** The `_meta` key of the ticket of a plan, in results and in calls. */
export const TICKET_KEY = 'dev.decorum/ticket';

/** The ticket in the `_meta` of a request or a result; undefined if there is none. */
export const ticketIn = (meta: JsonObject | undefined): unknown => meta?.[TICKET_KEY];
