import { andThen, isObject, isPromise } from '@decorum/schema/internal';

import { Exchange } from '../protocol/exchange.js';
import { checkMessage, isUnanswered, type JsonRpcRequest, readableId } from '../protocol/jsonrpc.js';
import type { RequestId } from '../protocol/model.js';
import type { Conversation } from '../protocol/peer.js';
import { NOTHING, type Reply } from '../protocol/reply.js';
import type { Wire } from '../protocol/wire.js';
import { batchFault, joined } from './batch.js';
import type { Failures } from './failures.js';
import type { Judge, Verdict } from './judge.js';
import type { KernelParts } from './methods/method.js';
import type { Unopened } from './unopened.js';

/** What batches need of their kernel. */
interface BatchMeans extends Pick<KernelParts, 'limits' | 'registry'> {
  readonly kernel: {
    readonly failures: Failures;
    handle(message: unknown, wire: Wire, conversation: Conversation): Reply | Promise<Reply>;
  };
  readonly judge: Judge;
  readonly steps: {
    start(exchange: Exchange, conversation: Conversation, denial?: Verdict): Reply | Promise<Reply>;
    rejected?(reply: Reply, request: Unopened): Reply | Promise<Reply>;
  };
  open(request: JsonRpcRequest, wire: Wire, conversation: Conversation): Exchange | Reply;
}

/** Handles batches. */
export class Batches {
  constructor(private readonly means: BatchMeans) {}

  /** Handles the messages of a batch concurrently (JSON-RPC 2.0, section 6). */
  handle(batch: readonly unknown[], wire: Wire, conversation: Conversation): Reply | Promise<Reply> {
    const fault = batchFault(batch, this.means.limits.maxBatch);
    if (fault) return this.means.kernel.failures.reject(fault, conversation.revision.unreadableId, wire);
    const opened = new Map(batch.map((message) => [message, this.preview(message, wire, conversation)]));
    const verdict = this.means.judge.verdictOnAll(
      [...opened.values()].filter((exchange) => exchange !== undefined),
      wire,
    );
    // no message of a denied batch takes effect
    const take = (message: unknown) =>
      andThen(verdict, (denial) =>
        denial && isUnanswered(message) ? NOTHING : this.means.kernel.handle(message, wire, conversation),
      );
    const ids = new Set<RequestId>();
    const replies = batch.map((message) => {
      const id = readableId(message);
      if (id !== undefined && ids.size === ids.add(id).size) {
        const reply = this.means.kernel.failures.duplicate(conversation);
        const request = { message: message as JsonRpcRequest, wire, conversation };
        return this.means.steps.rejected?.(reply, request) ?? reply;
      }
      const exchange = opened.get(message);
      return exchange ? this.means.steps.start(exchange, conversation, verdict) : take(message);
    });
    return isPromise(verdict) || replies.some((reply) => isPromise(reply))
      ? Promise.all(replies).then(async (all) => joined(all, await verdict))
      : joined(replies as readonly Reply[], verdict);
  }

  /** Opens a request of a batch if it has to be judged. */
  private preview(message: unknown, wire: Wire, conversation: Conversation): Exchange | undefined {
    const isJudged = this.means.registry.scoped || wire.authorization || this.means.registry.live.length > 0;
    if (!isJudged || !isObject(message) || !('method' in message && 'id' in message)) return undefined;
    try {
      checkMessage(message, this.means.limits);
    } catch {
      return undefined;
    }
    const opened = this.means.open(message as unknown as JsonRpcRequest, wire, conversation);
    return opened instanceof Exchange ? opened : undefined;
  }
}
