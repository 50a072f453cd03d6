import { type OptionTypes, requireOptions, startupError } from '@decorum/core/plugin';

import { callSite, thrownAt } from '../call-site.js';
import { Catalog, type EvaluatedServer } from './catalog.js';
import { type Choice, choose, TIMEOUT_MS } from './choose.js';
import { type Expectation, judge, requireTools } from './expectation.js';
import { messageOf } from './failure-message.js';
import type { Model } from './model.js';

/** Options of `expectTool`. */
export interface ExpectToolOptions extends EvaluatedServer {
  /** Asks the model. */
  readonly model: Model;
  /** Milliseconds for the choice, with all searches. Defaults to 60 000. */
  readonly timeoutMs?: number;
}

/** Types of the options that say whom to ask, and about what. */
export const ASKED = {
  server: true,
  model: 'function',
  principal: 'object',
  headers: 'object',
  revision: 'string',
  timeoutMs: [1, 3_600_000],
} as const satisfies OptionTypes<ExpectToolOptions>;

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` if there is no server or no model */
export function requireAsked(where: string, { server, model }: Partial<ExpectToolOptions>): void {
  const missing = server === undefined ? 'server' : model === undefined ? 'model' : undefined;
  if (missing === undefined) return;
  const what = missing === 'server' ? 'the server to test' : 'a function that asks a model';
  throw startupError('DECORUM_INVALID_OPTION', where, missing, `is missing. Pass ${what}`);
}

/** The arguments that a model should choose. */
export interface ExpectedCall {
  /** Some of the arguments. Patterns and the asymmetric matchers of the runner work too. */
  readonly arguments?: object;
}

const namesOf = (tool: string | readonly string[]): readonly string[] => (typeof tool === 'string' ? [tool] : tool);

/** The choice of a model, to be compared with what is right. The model is asked once, by the first comparison. */
export class ToolExpectation {
  readonly #question: string;
  readonly #options: ExpectToolOptions;
  #catalog: Promise<Catalog> | undefined;
  #choice: Promise<Choice> | undefined;

  /** Use `expectTool` instead. */
  constructor(question: string, options: ExpectToolOptions) {
    this.#question = question;
    this.#options = options;
  }

  /**
   * The model chooses this tool, or one of these, with arguments that the server accepts.
   * @param expected some of the arguments
   * @throws {Error} if it chooses another one, or other arguments, with what it chose; or if the model fails
   * @throws {DecorumError} `DECORUM_INVALID_OPTION` if the server lists no such tool for the caller
   */
  async toBe(tool: string | readonly string[], expected: ExpectedCall = {}): Promise<Choice> {
    return await this.#compare({ tools: namesOf(tool), arguments: expected.arguments, forbidden: [] }, this.toBe);
  }

  /**
   * The model calls no tool.
   * @throws {Error} if it calls one
   */
  async toBeNone(): Promise<Choice> {
    return await this.#compare({ tools: 'none', arguments: undefined, forbidden: [] }, this.toBeNone);
  }

  /** `not.toBe(tool)`: the model chooses none of these tools, whatever else it chooses. */
  get not(): { toBe(tool: string | readonly string[]): Promise<Choice> } {
    const toBe = async (tool: string | readonly string[]): Promise<Choice> =>
      await this.#compare({ tools: 'any', arguments: undefined, forbidden: namesOf(tool) }, toBe);
    return { toBe };
  }

  /**
   * What the model chooses.
   * @throws {Error} if the model fails
   */
  async choice(): Promise<Choice> {
    return await this.#compare({ tools: 'any', arguments: undefined, forbidden: [] }, this.choice);
  }

  async #compare(expected: Expectation, method: (...args: never[]) => unknown): Promise<Choice> {
    const site = callSite(method);
    try {
      const question = this.#question;
      const catalog = await (this.#catalog ??= Catalog.open(serverOptions(this.#options)));
      this.#choice ??= this.#choose(catalog, expected);
      const choice = await this.#choice;
      requireTools(catalog, expected, TO_BE);
      const judgment = judge(choice, expected);
      if (judgment.kind === 'right') return choice;
      throw new Error(messageOf(catalog, { question, choice, expected, judgment }));
    } catch (error) {
      throw thrownAt(error, site);
    }
  }

  async #choose(catalog: Catalog, expected: Expectation): Promise<Choice> {
    const { model, timeoutMs = TIMEOUT_MS } = this.#options;
    try {
      requireTools(catalog, expected, TO_BE);
      return await choose(catalog, { question: this.#question, model, timeoutMs });
    } finally {
      await catalog.close();
    }
  }
}

const TO_BE = { where: 'expectTool', option: 'toBe' };

/** The options for a catalog, among others. */
export const serverOptions = ({ server, principal, headers, revision }: EvaluatedServer): EvaluatedServer => ({
  server,
  ...(principal && { principal }),
  ...(headers && { headers }),
  ...(revision !== undefined && { revision }),
});

/**
 * Lets a model choose a tool for a question, from the list that a client of the server gets. No tool is called, except
 * `search_tools` of a server with the plugin `search()`.
 * @param question what a user might say
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { expectTool } from '@decorum/testing';
 *
 * await expectTool('Will it rain in Oslo?', { server, model }).toBe('forecast', { arguments: { city: 'Oslo' } });
 * await expectTool('Thanks, that was all', { server, model }).toBeNone();
 * await expectTool('Which files are old?', { server, model }).not.toBe('delete_files');
 * ```
 */
export function expectTool(question: string, options: ExpectToolOptions): ToolExpectation {
  requireOptions('expectTool', options, ASKED);
  requireAsked('expectTool', options);
  if (typeof question !== 'string' || question.trim() === '')
    throw startupError('DECORUM_INVALID_OPTION', 'expectTool', 'question', 'is empty. Pass what a user might say');
  return new ToolExpectation(question, options);
}
