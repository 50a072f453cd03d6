import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { ElicitAnswer, ElicitQuestion, QuestionHandlers, SampleAnswer, SampleQuestion } from '@decorum/client';
import { type JsonObject, McpError } from '@decorum/core';
import { isObject } from '@decorum/core/internal';
import { CommandFailure, EXIT, plainLine, plainText } from 'create-decorum';

import { openInBrowser } from './browser.js';
import { exampleOf, fillIn } from './form.js';
import { say } from './print.js';
import { Terminal } from './terminal.js';

/** Where answers come from. */
export interface AnswerOptions {
  /** Those of `--answer`, in order. */
  readonly answers: readonly string[];
  /** Folders of `--root`. */
  readonly roots: readonly string[];
  readonly usesBrowser: boolean;
  /** Ends the command, because nobody can answer. */
  readonly fail: (failure: CommandFailure) => void;
}

/** MCP, "Sampling": the user has rejected the request. */
const REJECTED = -1;

/** Answers the questions of a server: by `--answer`, or on the terminal. */
export class Answers implements QuestionHandlers {
  readonly onRoots: QuestionHandlers['onRoots'];
  /** Resolves when the server has asked for the roots. */
  readonly rootsAsked: Promise<void>;
  private readonly given: string[];
  private readonly terminal = new Terminal();
  /** One question at a time is on the terminal. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: AnswerOptions) {
    const { answers, roots } = options;
    this.given = [...answers];
    let asked = () => {};
    this.rootsAsked = new Promise((done) => {
      asked = done;
    });
    const list = () => {
      asked();
      return roots.map((root) => ({ uri: pathToFileURL(resolve(root)).href }));
    };
    this.onRoots = roots.length === 0 ? undefined : list;
  }

  readonly onElicit = async (question: ElicitQuestion, _call: unknown, signal: AbortSignal): Promise<ElicitAnswer> =>
    await this.inTurn(async () => {
      const given = this.given.shift();
      if (given !== undefined) return elicitAnswer(given);
      if (!this.terminal.isInteractive)
        throw this.unanswered(question.message, question.mode === 'url' ? 'accept' : exampleOf(question));
      return question.mode === 'url'
        ? await this.visit(question, signal)
        : await fillIn(question, { terminal: this.terminal, signal });
    });

  readonly onSample = async (
    question: SampleQuestion,
    _call: unknown,
    signal: AbortSignal,
  ): Promise<string | SampleAnswer> =>
    await this.inTurn(async () => {
      const text = textOf(question);
      const given = this.given.shift();
      if (given !== undefined && given !== 'decline' && given !== 'cancel') return sampleAnswer(given);
      if (given === undefined && !this.terminal.isInteractive) throw this.unanswered(text, "'the text'");
      if (given === undefined) say(`The server asks for the answer of a model: ${text}`);
      const typed = given === undefined ? await this.terminal.ask('Answer (empty to refuse):', signal) : '';
      if (typed === undefined || typed === '') throw new McpError(REJECTED, 'The user refuses to let a model answer.');
      return typed;
    });

  /** Nobody asks any more. */
  close(): void {
    this.terminal.close();
  }

  private async inTurn<T>(answer: () => Promise<T>): Promise<T> {
    const turn = this.last.then(answer).catch((error: unknown) => {
      if (error instanceof CommandFailure) this.options.fail(error);
      throw error;
    });
    this.last = turn.catch(() => {});
    return await turn;
  }

  private unanswered(message: unknown, example: string): CommandFailure {
    const { length } = this.options.answers;
    // servers ask again for what doesn't fit their form
    const used = length === 0 ? '' : ` ${length === 1 ? 'The --answer is used' : `All ${length} --answer are used`}.`;
    const remedy = `Pass${length === 0 ? '' : ' another'} --answer ${example}, or --answer decline`;
    return new CommandFailure(`The server asks: ${plainText(message)}\n${remedy}.${used}`, EXIT.usage);
  }

  private async visit({ message, url = '' }: ElicitQuestion, signal: AbortSignal): Promise<ElicitAnswer> {
    say(`The server asks you to visit a page: ${message}\n\n  ${plainLine(url)}\n`);
    const { usesBrowser } = this.options;
    if (!(await this.terminal.confirm(usesBrowser ? 'Open it?' : 'Do you agree?', signal)))
      return { action: 'decline' };
    if (usesBrowser) openInBrowser(url);
    return { action: 'accept' };
  }
}

function textOf({ systemPrompt, messages }: SampleQuestion): string {
  const all = Array.isArray(messages) ? messages.map(({ content }) => content as unknown) : [];
  const texts = all.flat().map((block) => (isObject(block) ? (block['text'] ?? `[${String(block['type'])}]`) : ''));
  return [systemPrompt, ...texts].filter((each) => each !== undefined).join('\n');
}

/** Reads `--answer`. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function elicitAnswer(given: string): ElicitAnswer {
  if (given === 'decline' || given === 'cancel') return { action: given };
  if (given === 'accept') return { action: 'accept', content: {} };
  const content = parsed(given);
  if (isObject(content)) return { action: 'accept', content };
  throw new CommandFailure(`--answer is ${given}. Pass an object, accept, decline or cancel.`, EXIT.usage);
}

/** A text, or the whole result of a model. */
function sampleAnswer(given: string): string | SampleAnswer {
  const value = parsed(given);
  if (isObject(value) && 'content' in value) return value as JsonObject & SampleAnswer;
  return typeof value === 'string' ? value : given;
}
