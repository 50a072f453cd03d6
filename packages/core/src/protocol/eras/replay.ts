import { Effects, type Entry } from '../effects.js';
import { McpError } from '../errors.js';
import { InputSignal } from '../input.js';
import { isObject } from '../jsonrpc.js';
import type { JsonObject } from '../model.js';
import type { Question } from '../revisions/revision.js';

/** What travels from round to round: what was answered, what was done once, and what was asked last. */
export interface Journal {
  /** Answers by key, each with the question it belongs to. */
  readonly answers: readonly (readonly [key: string, question: string, answer: JsonObject])[];
  /** Results of `ctx.once` by key. */
  readonly effects: readonly Entry[];
  /** The questions of the last round by key. */
  readonly asked: readonly (readonly [key: string, question: string])[];
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
  private readonly answers = new Map<string, readonly [question: string, answer: JsonObject]>();
  readonly effects: Effects;
  private readonly asked: ReadonlyMap<string, string>;
  private readonly open = new Map<string, { readonly question: string; readonly request: JsonObject }>();
  /** The keys of the questions of this round. */
  private readonly seen = new Set<string>();
  /** What earlier rounds came to know, and this one has not reached yet, in the order in which they did. */
  private readonly ahead = new Set<string>();
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
    this.asked = new Map(journal.asked);
    this.effects = new Effects(journal.effects);
    for (const [key, question, answer] of journal.answers) {
      this.answers.set(key, [question, answer]);
      this.ahead.add(key);
    }
    for (const key of this.asked.keys()) if (isObject(given[key])) this.ahead.add(key);
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
    this.open.set(key, { question: digest, request: { method, params } });
    throw new InputSignal();
  }

  /**
   * What the client gets in place of a result.
   * @throws {Error} when two questions had one key, or there were too many, and {McpError} for answers that are too large
   */
  interim(): JsonObject {
    if (this.fault) throw this.fault;
    const requestState = this.seal.seal({
      answers: [...this.answers].map(([key, [question, answer]]) => [key, question, answer] as const),
      effects: this.effects.entries(),
      asked: [...this.open].map(([key, { question }]) => [key, question] as const),
    });
    const inputRequests = Object.fromEntries([...this.open].map(([key, { request }]) => [key, request]));
    return { resultType: 'input_required', inputRequests, requestState };
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

/**
 * The answers that came with a request.
 * @throws {McpError} `invalid-params`
 */
export function givenAnswers(params: JsonObject): JsonObject {
  const given = params['inputResponses'];
  if (given === undefined) return {};
  if (!isObject(given)) throw new McpError('invalid-params', '"inputResponses" is not an object.');
  return given;
}
