import { textAt, withText } from './json-text.js';
import { isRequest, isResponse, type Json, paramsOf, type Written } from './message.js';
import type { Program } from './program.js';

const TOKEN = ['params', '_meta', 'progressToken'];

/** A request from a program to the client. */
interface Question {
  readonly program: Program;
  /** The id that the program has given it, as JSON. */
  readonly id: string;
  /** The program's progress token, as JSON; undefined if it has none. */
  readonly token: string | undefined;
}

/** A client's message, and the program that it is for. */
export interface Addressed {
  readonly program: Program;
  readonly text: string;
}

/** Pending questions from all programs to one client. Programs may use the same ids, so the client gets new ones. */
export class Questions {
  private readonly open = new Map<string, Question>();
  private asked = 0;

  /** The text of a program's request or notification, with the ids that the client knows. */
  toClient(program: Program, { message, text }: Written<Json>): string {
    if (isRequest(message)) return this.ask(program, text);
    return message['method'] === 'notifications/cancelled' ? this.cancel(program, text) : text;
  }

  /** The text of a client's response or progress, as the program that asked understands it; undefined for all others. */
  toProgram({ message, text }: Written<Json>): Addressed | undefined {
    const isAnswer = isResponse(message);
    if (!isAnswer && message['method'] !== 'notifications/progress') return undefined;
    const question = this.open.get(String(isAnswer ? message['id'] : paramsOf(message)['progressToken']));
    if (question === undefined) return undefined;
    const { program, id, token = 'null' } = question;
    const renamed = isAnswer ? withText(text, ['id'], id) : withText(text, ['params', 'progressToken'], token);
    return { program, text: renamed };
  }

  /** Removes the question that a client's response has answered. */
  close({ id }: Json): void {
    this.open.delete(String(id));
  }

  /** Forgets the questions of a program that has ended. */
  forget(program: Program): void {
    for (const [id, each] of this.open) if (each.program === program) this.open.delete(id);
  }

  private ask(program: Program, text: string): string {
    const id = `dev-${++this.asked}`;
    const token = textAt(text, TOKEN);
    this.open.set(id, { program, id: textAt(text, ['id']) ?? 'null', token });
    const renamed = withText(text, ['id'], JSON.stringify(id));
    return token === undefined ? renamed : withText(renamed, TOKEN, JSON.stringify(id));
  }

  private cancel(program: Program, text: string): string {
    const path = ['params', 'requestId'];
    const asked = textAt(text, path);
    const [id] = [...this.open].find(([, each]) => each.program === program && each.id === asked) ?? [];
    return id === undefined ? text : withText(text, path, JSON.stringify(id));
  }
}
