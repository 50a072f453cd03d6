import { type Id, isJson, type Json, keyOf, paramsOf } from './message.js';
import type { Program } from './program.js';

/** A request of a program to the client. */
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

/** The questions of all programs to one client. Two programs may use the same ids, so the client sees others. */
export class Questions {
  private readonly open = new Map<string, Question>();
  private asked = 0;

  /** Gives a program's request an id of its own. */
  ask(program: Program, message: Json): Json {
    const id = `dev-${++this.asked}`;
    const token = tokenOf(message);
    this.open.set(id, { program, id: message['id'] as Id, token });
    if (token === undefined) return { ...message, id };
    const params = paramsOf(message);
    return { ...message, id, params: { ...params, _meta: { ...(params['_meta'] as Json), progressToken: id } } };
  }

  /** The question that a response of the client answers. */
  answer({ id }: Json): Question | undefined {
    const question = this.open.get(String(id));
    this.open.delete(String(id));
    return question;
  }

  /** The question that the client reports progress of. */
  progress(message: Json): Question | undefined {
    return this.open.get(String(paramsOf(message)['progressToken']));
  }

  /** Renames the question that a program cancels. */
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
