import { andThen, isObject, type JsonObject } from '@decorum/schema/internal';

import { McpError } from '../../protocol/errors.js';
import type { Exchange } from '../../protocol/exchange.js';
import type { ToolExtras, ToolPlan } from '../../registry/tool-plan.js';
import { isAdmitted } from '../admission.js';
import { Context } from '../context.js';
import { type RunParts, runDetached } from './detached-run.js';
import type { Starting } from './extended-tools.js';
import type { ToolCall } from './extension.js';

/**
 * Lets extensions start a call, once its caller has been admitted.
 * @param run runs the handler in place, for calls that no extension starts
 */
export function startCall<R>(
  exchange: Exchange,
  plan: ToolPlan,
  { parts, write, run }: { readonly parts: RunParts; write(result: JsonObject): R; run(): R | Promise<R> },
): R | Promise<R> {
  const { access, extras } = plan;
  const admitted = access === undefined || isAdmitted(access, exchange, parts.reporter);
  return andThen(admitted, (isIn) => {
    if (!isIn) return run();
    const { arguments: args = {} } = exchange.params;
    if (!isObject(args)) throw new McpError('invalid-params', '"arguments" is not an object.');
    exchange.peer.checkArguments?.(plan.mirrored, args);
    const start = (extras as ToolExtras).start as (starting: Starting) => Promise<JsonObject> | undefined;
    const started = start(startingOf(exchange, plan, { args, parts }));
    return started === undefined ? run() : started.then(write);
  });
}

function startingOf(
  exchange: Exchange,
  plan: ToolPlan,
  { args, parts }: { readonly args: JsonObject; readonly parts: RunParts },
): Starting {
  const { peer, wire, revision, params } = exchange;
  const { client, sessionId } = peer;
  const { principal, transport } = wire;
  const call: ToolCall = { tool: plan.key, args, revision: revision.id, client, principal, sessionId, transport };
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
