import { isObject, type JsonObject } from '@decorum/schema/internal';

import { type Effect, Effects } from '../effects.js';
import { InputSignal } from '../input.js';
import type { Question } from '../revisions/revision.js';

/** An answer with the digest of its question. */
type Answered = readonly [question: string, answer: JsonObject];

type Entries<T> = readonly (readonly [key: string, value: T])[];

/** The state carried between rounds: answers, results of effects, and the last questions. */
export interface Journal {
  readonly answers: Entries<Answered>;
  /** Results of `ctx.once` by key. */
  readonly effects: readonly Effect[];
  /** Questions of the last round by key. */
  readonly asked: Entries<string>;
}

/** Seals journals into `requestState`, for one request of one principal. */
export interface StateSeal {
  /** @throws {McpError} `internal-error` if the journal is too large */
  seal(journal: Journal): string;
  /** Identifies a question, to match answers with the right one. */
  digest(question: unknown): string;
}

/** Cap on questions per round: a handler that asks more is most likely in an endless loop. */
const MAX_QUESTIONS = 100;

/**
 * One round of a request that is handled by replay. The handler runs from the start: questions that were answered
 * resolve immediately, and the first unanswered one ends the round.
 */
export class Round {
  private readonly answers: Map<string, Answered>;
  readonly effects: Effects;
  private readonly asked: ReadonlyMap<string, string>;
  /** Questions that this round ends with (as digests), and their requests for the client. */
  private readonly open = new Map<string, string>();
  private readonly requests = new Map<string, JsonObject>();
  /** Keys of the questions asked in this round. */
  private readonly seen = new Set<string>();
  /** Keys answered in earlier rounds that the handler has not reached again yet, in their original order. */
  private readonly ahead: Set<string>;
  private position = 0;
  /** The last request for the client. */
  last: JsonObject | undefined;
  /** Set if the round must fail: otherwise its questions would be asked forever. */
  fault: Error | undefined;

  /**
   * @param given the client's answers by key, if it sent any
   * @param journal the journal of earlier rounds; undefined in the first round, and if the client sends no state
   */
  constructor(
    private readonly seal: StateSeal,
    private readonly given: JsonObject,
    journal: Journal | undefined,
  ) {
    this.answers = new Map(journal?.answers);
    this.asked = new Map(journal?.asked);
    this.effects = new Effects(journal?.effects);
    const answered = [...this.asked.keys()].filter((key) => isObject(given[key]));
    this.ahead = new Set([...this.answers.keys(), ...answered]);
  }

  /** Whether the round ends with questions. */
  get asking(): boolean {
    return this.open.size > 0;
  }

  /** Whether the handler is still repeating work of earlier rounds. */
  get replaying(): boolean {
    return this.ahead.size > 0 && !this.effects.begun;
  }

  /**
   * Returns the answer to a question, or ends the round.
   * @throws {InputSignal} if there is no answer yet
   * @throws {Error} for a duplicate key, and for too many questions
   */
  ask(question: Question, params: JsonObject): JsonObject {
    const key = question.key ?? `#${++this.position}`;
    this.check(key);
    const { method } = question;
    const digest = this.seal.digest([method, question.identity ?? params]);
    const answer = this.find(question, key, digest);
    this.reach(key);
    if (answer !== undefined) {
      this.answers.set(key, [digest, answer]);
      return answer;
    }
    // nothing after this point was reached in an earlier round
    this.ahead.clear();
    this.answers.delete(key);
    this.open.set(key, digest);
    this.last = { method, params };
    this.requests.set(key, this.last);
    throw new InputSignal();
  }

  /**
   * The result that carries the questions to the client.
   * @throws {McpError} for answers that are too large
   */
  interim(): JsonObject {
    // the id of the request's runs, which all rounds share
    this.effects.id(() => crypto.randomUUID());
    const journal = { answers: [...this.answers], effects: this.effects.entries(), asked: [...this.open] };
    const requestState = this.seal.seal(journal);
    return { resultType: 'input_required', inputRequests: Object.fromEntries(this.requests), requestState };
  }

  /** Rejects a duplicate key, and too many questions. */
  private check(key: string): void {
    const isTaken = this.seen.has(key);
    if (isTaken || this.seen.size === MAX_QUESTIONS) {
      throw (this.fault = new Error(
        isTaken
          ? `Two questions of one handler have the key "${key}". Give each a unique key.`
          : `A handler asked ${MAX_QUESTIONS} questions for one request. Check it for an endless loop. ` +
              'If it catches errors from questions, rethrow InputSignal.',
      ));
    }
    this.seen.add(key);
  }

  /** Marks a key as reached again, and drops the keys before it: the handler has skipped them. */
  private reach(key: string): void {
    if (!this.ahead.has(key)) return;
    for (const earlier of this.ahead) {
      this.ahead.delete(earlier);
      if (earlier === key) return;
    }
  }

  private find({ acceptUnsolicited, fits }: Question, name: string, digest: string): JsonObject | undefined {
    const known = this.answers.get(name);
    if (known !== undefined) return known[0] === digest ? known[1] : undefined;
    const answer = this.given[name];
    if (!isObject(answer)) return undefined;
    const asked = this.asked.get(name);
    // the last round didn't ask this: nothing shows that a user has seen the question
    const belongs = asked === undefined ? acceptUnsolicited === true : asked === digest;
    return belongs && (fits?.(answer) ?? true) ? answer : undefined;
  }
}
