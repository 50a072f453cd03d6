import { type Id, isJson, type Json, keyOf, paramsOf } from './message.js';
import type { Program } from './program.js';

/** A request from a program to the client. */
export interface Question {
  readonly program: Program;
  /** The id that the program has given it. */
  readonly id: Id;
  readonly token: unknown;
}

const tokenOf = (message: Json): unknown => {
  const meta = paramsOf(message)['_meta'];
  return isJson(meta) ? meta['progressToken'] : undefined;
};

/** Pending questions from all programs to one client. Programs may use the same ids, so the client gets new ones. */
export class Questions {
  private readonly open = new Map<string, Question>();
  private asked = 0;

  /** Gives a program's request a unique id. */
  ask(program: Program, message: Json): Json {
    const id = `dev-${++this.asked}`;
    const token = tokenOf(message);
    this.open.set(id, { program, id: message['id'] as Id, token });
    if (token === undefined) return { ...message, id };
    const params = paramsOf(message);
    return { ...message, id, params: { ...params, _meta: { ...(params['_meta'] as Json), progressToken: id } } };
  }

  /** Removes the question that a client's response answers, and returns it. */
  answer({ id }: Json): Question | undefined {
    const question = this.open.get(String(id));
    this.open.delete(String(id));
    return question;
  }

  /** The question that the client reports progress on. */
  progress(message: Json): Question | undefined {
    return this.open.get(String(paramsOf(message)['progressToken']));
  }

  /** Replaces the id in a program's cancellation with the one that the client knows. */
  cancel(program: Program, message: Json): Json {
    const params = paramsOf(message);
    const key = keyOf(params['requestId']);
    const [id] = [...this.open].find(([, each]) => each.program === program && keyOf(each.id) === key) ?? [];
    return id === undefined ? message : { ...message, params: { ...params, requestId: id } };
  }

  /** Forgets the questions of a program that has ended. */
  forget(program: Program): void {
    for (const [id, each] of this.open) if (each.program === program) this.open.delete(id);
  }
}
