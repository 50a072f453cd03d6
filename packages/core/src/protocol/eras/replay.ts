import { type Effect, Effects } from '../effects.js';
import { InputSignal } from '../input.js';
import { isObject } from '../jsonrpc.js';
import type { JsonObject } from '../model.js';
import type { Question } from '../revisions/revision.js';

/** An answer, with the question it belongs to. */
type Answered = readonly [question: string, answer: JsonObject];

type Entries<T> = readonly (readonly [key: string, value: T])[];

/** What travels from round to round: what was answered, what was done once, and what was asked last. */
export interface Journal {
  readonly answers: Entries<Answered>;
  /** Results of `ctx.once` by key. */
  readonly effects: readonly Effect[];
  /** The questions of the last round by key. */
  readonly asked: Entries<string>;
}

/** Seals journals into `requestState`, for one request of one principal. */
export interface FlowSeal {
  /** @throws {McpError} `internal-error` when the journal is too large */
  seal(journal: Journal): string;
  /** Names a question, so that an answer is never taken for that of another. */
  digest(question: unknown): string;
}

/** Questions of one round; a handler that asks more goes on for ever. */
const MAX_QUESTIONS = 100;

const EMPTY: Journal = { answers: [], effects: [], asked: [] };

/**
 * One round of a request that is handled by replay: the handler runs from its beginning, questions that were answered
 * resolve at once, and the first that was not ends the round.
 */
export class Round {
  private readonly answers: Map<string, Answered>;
  readonly effects: Effects;
  private readonly asked: ReadonlyMap<string, string>;
  /** The questions that this round ends with, and the requests for the client that put them. */
  private readonly open = new Map<string, string>();
  private readonly requests = new Map<string, JsonObject>();
  /** The keys of the questions of this round. */
  private readonly seen = new Set<string>();
  /** What earlier rounds came to know, and this one has not reached yet, in the order in which they did. */
  private readonly ahead: Set<string>;
  private position = 0;
  /** Why the round cannot end with questions: they would be asked for ever. */
  fault: Error | undefined;

  /**
   * @param given the client's answers by key, if it sent any
   * @param journal of the earlier rounds; undefined in the first, and where the client sends no state
   */
  constructor(
    private readonly seal: FlowSeal,
    private readonly given: JsonObject,
    journal: Journal = EMPTY,
  ) {
    this.answers = new Map(journal.answers);
    this.asked = new Map(journal.asked);
    this.effects = new Effects(journal.effects);
    const answered = [...this.asked.keys()].filter((key) => isObject(given[key]));
    this.ahead = new Set([...this.answers.keys(), ...answered]);
  }

  /** The round has no result. */
  get asking(): boolean {
    return this.open.size > 0 || this.fault !== undefined;
  }

  /** The handler is still in what it has done before. */
  get replaying(): boolean {
    return this.ahead.size > 0 && !this.effects.begun;
  }

  /**
   * The answer to a question, or the end of the round.
   * @throws {InputSignal}, and {Error} for a key that another question has, and for one question too many
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
    // whatever comes next was not reached before
    this.ahead.clear();
    this.answers.delete(key);
    this.open.set(key, digest);
    this.requests.set(key, { method, params });
    throw new InputSignal();
  }

  /**
   * What the client gets in place of a result.
   * @throws {Error} when two questions had one key, or there were too many, and {McpError} for answers that are too large
   */
  interim(): JsonObject {
    if (this.fault) throw this.fault;
    const journal = { answers: [...this.answers], effects: this.effects.entries(), asked: [...this.open] };
    const requestState = this.seal.seal(journal);
    return { resultType: 'input_required', inputRequests: Object.fromEntries(this.requests), requestState };
  }

  /** Makes sure that a question is another than those before. */
  private check(key: string): void {
    if (this.seen.has(key)) {
      this.fault ??= new Error(`Two questions of one handler have the key "${key}". Give each a key of its own.`);
    } else if (this.seen.size === MAX_QUESTIONS) {
      this.fault ??= new Error(
        `A handler has asked ${MAX_QUESTIONS} questions for one request, and does not stop. ` +
          'If it catches what questions throw, let InputSignal pass.',
      );
    }
    if (this.fault) throw this.fault;
    this.seen.add(key);
  }

  /** A question comes up again. What came before it and did not come up is not to be expected any more. */
  private reach(key: string): void {
    if (!this.ahead.has(key)) return;
    for (const earlier of this.ahead) {
      this.ahead.delete(earlier);
      if (earlier === key) return;
    }
  }

  private find({ key, sealed, fits }: Question, name: string, digest: string): JsonObject | undefined {
    const known = this.answers.get(name);
    if (known !== undefined) return known[0] === digest ? known[1] : undefined;
    const answer = this.given[name];
    if (!isObject(answer)) return undefined;
    const asked = this.asked.get(name);
    // an answer that comes unasked is one that the client knew before: fine, unless the question must have been seen
    const belongs = asked === undefined ? key !== undefined && sealed !== true : asked === digest;
    return belongs && (fits?.(answer) ?? true) ? answer : undefined;
  }
}
