import { randomUUID } from 'node:crypto';

import { type ClientCapabilities, type Context, InputSignal, type JsonObject, McpError } from '@decorum/core';
import { frontOf, isObject, ownerOf } from '@decorum/core/internal';
import { askClient } from '@decorum/core/plugin';

import type { Question } from '../../questions.js';
import { UpstreamFailure, URL_REQUIRED } from './failures.js';
import { forwarded, urlFor } from './forwarding.js';
import type { HeldCalls } from './held-calls.js';
import type { UpstreamRequest } from './link.js';
import type { UpstreamCall } from './upstream-call.js';

/** A call that has started upstream. */
export interface Started {
  readonly call: UpstreamCall;
  /** Whether the upstream asks in results, and keeps nothing between rounds. */
  readonly isStateless: boolean;
}

/** What a conversation needs of its proxy. */
export interface ConversationParts {
  readonly name: string;
  /** What can be asked of the client in front. */
  readonly declared: ClientCapabilities;
  readonly held: HeldCalls;
  start(request: UpstreamRequest): Promise<Started>;
}

/** What a handler has to know when it runs again in the next round. */
type Step =
  | { readonly held: string; readonly asked?: undefined }
  /** The questions of a result. */
  | { readonly asked: JsonObject; readonly held?: undefined }
  | { readonly held?: undefined; readonly asked?: undefined };

/** Cap on the rounds of questions before a result. */
const MAX_ROUNDS = 10;

const MAX_QUESTIONS = 100;

/** Keys that are none of those that servers give to questions without one. */
const PLAIN = /^[\w-]+$/;

/**
 * A call whose upstream may ask the client in front. Its handler may run several times, and each step is recorded, so
 * that nothing is sent upstream twice.
 */
export class Conversation {
  private readonly owner: string | undefined;
  /** The keys of questions so far: no two questions of a call may share one. */
  private readonly keys = new Set<string>();

  constructor(
    private readonly ctx: Context,
    private readonly request: UpstreamRequest,
    private readonly parts: ConversationParts,
  ) {
    this.owner = ownerOf(ctx.principal);
  }

  /**
   * Runs the call up to its result.
   * @throws {InputSignal} if the client has to answer first, in another request
   */
  async run(): Promise<JsonObject> {
    const { name, held } = this.parts;
    // what is asked now could not be held until the answer
    if (frontOf(this.ctx).asksInRounds && held.isFull) throw new UpstreamFailure('busy', name);
    let given: JsonObject = {};
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      const ended = await this.round(round, given);
      if ('result' in ended) return ended.result;
      given = ended.given;
    }
    throw new UpstreamFailure('invalid', name);
  }

  /** Runs the call up to its result, or to where it has to be sent again with answers. */
  private async round(
    round: number,
    given: JsonObject,
  ): Promise<{ readonly result: JsonObject } | { readonly given: JsonObject }> {
    let result: JsonObject | undefined;
    let call: UpstreamCall | undefined;
    const step = (await this.ctx.once(`upstream ${round}`, async (): Promise<Step> => {
      const { method, params } = this.request;
      const started = await this.parts.start({ method, params: { ...params, ...given } });
      call = started.call;
      if (!started.isStateless) return { held: randomUUID() };
      const answer = await call.attend(this.ctx);
      if (answer['resultType'] === 'input_required') return { asked: answer };
      result = answer;
      return {};
    })) as Step;
    if (result !== undefined) return { result };
    if (step.asked !== undefined) return { given: await this.respond(step.asked, round) };
    return await this.follow(step.held, call);
  }

  /** Attends to a call of a session upstream, which may have begun in an earlier round. */
  private async follow(id: string | undefined, begun: UpstreamCall | undefined) {
    const { held, name } = this.parts;
    const call = begun ?? (id === undefined ? undefined : held.take(id, this.owner));
    if (id === undefined || call === undefined) throw new UpstreamFailure('lost', name);
    try {
      return await this.resultOf(call);
    } catch (error) {
      if (error instanceof InputSignal && !this.ctx.signal.aborted) held.keep(id, this.owner, call);
      throw error;
    }
  }

  private async resultOf(call: UpstreamCall) {
    try {
      return { result: await call.attend(this.ctx) };
    } catch (error) {
      const visits = visitsIn(error);
      if (visits === undefined) throw error;
      for (const [at, visit] of visits.entries()) await this.visit(visit, call, String(at));
      // the upstream wants the call again once the user has been there
      return { given: {} };
    }
  }

  /** Sends the user to a URL that the upstream requires. */
  private async visit({ message, url, elicitationId }: JsonObject, call: UpstreamCall, at: string): Promise<void> {
    const target = urlFor(url);
    const { source, visits } = call.parts;
    await this.ctx.requireUrl({
      key: `${source}.visit ${at} ${String(elicitationId)}`,
      message: `${source}: ${String(message)}`,
      url: ({ id }) => {
        visits.add(String(elicitationId), id);
        return target;
      },
    });
  }

  /** Asks the client the questions of a result. Returns the params to add to the request. */
  private async respond(asking: JsonObject, round: number): Promise<JsonObject> {
    const { name, declared } = this.parts;
    const { inputRequests = {}, requestState } = asking;
    const asked = Object.entries(inputRequests as object);
    const isValid =
      isObject(inputRequests) && asked.length <= MAX_QUESTIONS && asked.every(([, each]) => isQuestion(each));
    if (!isValid) throw new UpstreamFailure('invalid', name);
    const answers = asked.map(async ([key, { method, params = {} }]: [string, Question]) => {
      const question = forwarded({ method, params }, { source: name, declared });
      return [key, await askClient(this.ctx, { ...question, key: this.keyFor(key, round) })] as const;
    });
    const ended = await Promise.allSettled(answers);
    const failures = ended.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    const failure = failures.find((each) => !(each instanceof InputSignal)) ?? failures[0];
    if (failure !== undefined) throw failure;
    const inputResponses = Object.fromEntries(await Promise.all(answers)) as JsonObject;
    return { inputResponses, ...(requestState !== undefined && { requestState }) };
  }

  /** The upstream's key of a question, if nothing else of the call has it, or may have it. */
  private keyFor(key: string, round: number): string {
    const isFree = PLAIN.test(key) && key !== '__proto__' && !this.keys.has(key);
    this.keys.add(key);
    return isFree ? key : `${this.parts.name}.${round}.${key}`;
  }
}

const isQuestion = (value: unknown): boolean =>
  isObject(value) && typeof value['method'] === 'string' && isObject(value['params'] ?? {});

/** The visits that an error requires; undefined for other errors. */
function visitsIn(error: unknown): readonly JsonObject[] | undefined {
  const data = error instanceof McpError && error.code === URL_REQUIRED ? error.data : undefined;
  const visits = isObject(data) ? data['elicitations'] : undefined;
  return Array.isArray(visits) && visits.length > 0 && visits.every(isObject) ? visits : undefined;
}
