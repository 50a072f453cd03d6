import { andThen, isObject, type JsonObject } from '@decorum/schema/internal';

import { McpError } from '../../protocol/errors.js';
import type { Exchange } from '../../protocol/exchange.js';
import { IDEMPOTENCY_KEY, idempotencyKeyOf } from '../../registry/outcomes/idempotency-key.js';
import type { ToolPlan } from '../../registry/tool-plan.js';
import { isAdmitted } from '../admission.js';
import { Context } from '../context.js';
import type { Outcome } from '../members.js';
import { type RunParts, runDetached } from './detached-run.js';
import type { Starting } from './extended-tools.js';
import type { ToolCall } from './extension.js';

/**
 * Lets extensions start a call, once its caller has been admitted.
 * @returns the outcome, with the result in the format of the revision. Undefined leaves the call to the handler
 */
export function startCall(exchange: Exchange, plan: ToolPlan, parts: RunParts): Started | Promise<Started> {
  const { access } = plan;
  const admitted = access === undefined || isAdmitted(access, exchange, parts.reporter);
  // it may have been cancelled and answered in the meantime
  return andThen(admitted, (isIn) => (isIn && !exchange.over ? start(exchange, plan, parts) : undefined));
}

type Started = Outcome<JsonObject> | undefined;

function start(exchange: Exchange, plan: ToolPlan, parts: RunParts): Started | Promise<Started> {
  try {
    const { arguments: args = {} } = exchange.params;
    if (!isObject(args)) throw new McpError('invalid-params', '"arguments" is not an object.');
    exchange.peer.checkArguments?.(plan.mirrored, args);
    const extras = plan.extras as { start(starting: Starting): Promise<JsonObject> | undefined };
    const started = extras.start(startingOf(exchange, plan, { args, parts }));
    return started && ended(started, exchange);
  } catch (error) {
    return { kind: 'failed', error };
  }
}

async function ended(started: Promise<JsonObject>, exchange: Exchange): Promise<Outcome<JsonObject>> {
  try {
    const result = await started;
    if (result['resultType'] === 'input_required') return { kind: 'input-required', questions: result };
    return { kind: 'complete', result };
  } catch (error) {
    // it may have left a question of its own to the client
    const round = exchange.hasAsked ? exchange.peer.endRound?.(exchange) : undefined;
    return round === undefined ? { kind: 'failed', error } : { kind: 'input-required', questions: await round };
  }
}

/** The `_meta` that goes on with a call. A header with a key doesn't, because another process may go on. */
function metaOf({ meta, wire }: Exchange, { options }: ToolPlan): JsonObject | undefined {
  const key = 'idempotent' in options ? idempotencyKeyOf(meta, wire.transport) : undefined;
  return key === undefined ? meta : { ...meta, [IDEMPOTENCY_KEY]: key };
}

function startingOf(
  exchange: Exchange,
  plan: ToolPlan,
  { args, parts }: { readonly args: JsonObject; readonly parts: RunParts },
): Starting {
  const { peer, wire, revision, params } = exchange;
  const { client, sessionId, visibility } = peer;
  const { principal, transport } = wire;
  const sender = { client, principal, sessionId, transport, ...(visibility && { visibility }) };
  const call: ToolCall = { tool: plan.key, args, meta: metaOf(exchange, plan), revision: revision.id, ...sender };
  return {
    call,
    params,
    ctx: new Context(exchange),
    effects: () => exchange.ownEffects.entries(),
    ask: (question) => exchange.ask(question),
    interim: () => peer.endRound?.(exchange),
    detach: (host) =>
      runDetached(plan, { call, host, origin: { effects: exchange.ownEffects, claim: peer.claim?.bind(peer) } }, parts),
  };
}
