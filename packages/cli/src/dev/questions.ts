import { textAt, withText } from './json-text.js';
import { type Json, paramsOf, type Written } from './message.js';
import type { Program } from './program.js';

const TOKEN = ['params', '_meta', 'progressToken'];

/** A request from a program to the client. */
export interface Question {
  readonly program: Program;
  /** The id that the program has given it, as JSON. */
  readonly id: string;
  /** The program's progress token, as JSON; undefined if it has none. */
  readonly token: string | undefined;
}

/** Pending questions from all programs to one client. Programs may use the same ids, so the client gets new ones. */
export class Questions {
  private readonly open = new Map<string, Question>();
  private asked = 0;

  /** The text of a program's request with a unique id. */
  ask(program: Program, text: string): string {
    const id = `dev-${++this.asked}`;
    const token = textAt(text, TOKEN);
    this.open.set(id, { program, id: textAt(text, ['id']) ?? 'null', token });
    const renamed = withText(text, ['id'], JSON.stringify(id));
    return token === undefined ? renamed : withText(renamed, TOKEN, JSON.stringify(id));
  }

  /** The question that a client's response answers. */
  answeredBy({ id }: Json): Question | undefined {
    return this.open.get(String(id));
  }

  /** Removes the question that a client's response has answered. */
  close({ id }: Json): void {
    this.open.delete(String(id));
  }

  /** The question that the client reports progress on. */
  progress(message: Json): Question | undefined {
    return this.open.get(String(paramsOf(message)['progressToken']));
  }

  /** A program's cancellation, with the id that the client knows. */
  cancel(program: Program, text: string): string {
    const path = ['params', 'requestId'];
    const asked = textAt(text, path);
    const [id] = [...this.open].find(([, each]) => each.program === program && each.id === asked) ?? [];
    return id === undefined ? text : withText(text, path, JSON.stringify(id));
  }

  /** Forgets the questions of a program that has ended. */
  forget(program: Program): void {
    for (const [id, each] of this.open) if (each.program === program) this.open.delete(id);
  }
}

/** The text of a client's message about a question, as the program that asked understands it. */
export function forAsker({ message, text }: Written<Json>, { id, token }: Question): string {
  return message['method'] === undefined
    ? withText(text, ['id'], id)
    : withText(text, ['params', 'progressToken'], token ?? 'null');
}
