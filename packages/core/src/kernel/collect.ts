import { type JsonObject, jsonRoundTrip } from '@decorum/schema/internal';

import { PRIVATE_EFFECT } from '../protocol/effects.js';
import type { Exchange } from '../protocol/exchange.js';
import type { NeedInput } from '../protocol/input.js';
import { checkRequest } from './question-rules.js';
import { requireDeclared } from './questions.js';

/**
 * Sends the requests that were passed to `needInput` to the client.
 * @param count how many times the handler has returned `needInput`
 * @returns the answers by key, and the state of the first run, because later runs may pass a different one
 */
export async function collect(
  exchange: Exchange,
  { requests, state }: Pick<NeedInput, 'requests' | 'state'>,
  count: number,
) {
  // all or nothing: if the client cannot answer one of the requests, send none
  const checked = Object.entries(requests).map(([key, request]) => ({ key, ...checkRequest(request) }));
  for (const request of checked) requireDeclared(exchange, request);
  const first = await exchange.once(`${PRIVATE_EFFECT}needInput ${count}`, () =>
    jsonRoundTrip(state, 'The state of needInput'),
  );
  const asked = checked.map(async (request) => [request.key, await exchange.ask(request)] as const);
  return { answers: Object.fromEntries(await Promise.all(asked)) as Readonly<Record<string, JsonObject>>, first };
}
