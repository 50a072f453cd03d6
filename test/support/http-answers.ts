// Checks HTTP responses to messages: their status, their content type, and the messages in them.
import type { Message } from './raw-client.js';

/** The posted messages. Undefined if the body isn't JSON. */
export type Posted = Message | readonly Message[] | undefined;

const isMessage = (value: unknown): value is Message => typeof value === 'object' && value !== null;

/** The requests among posted messages. */
export function requestsIn(posted: Posted): Message[] {
  return [posted]
    .flat()
    .filter((each) => isMessage(each) && typeof each.method === 'string' && 'id' in each) as Message[];
}

const isAnswer = ({ method }: Message) => method === undefined;

/** The problems in the status and headers of a response to a POST. */
export function problemsOfHead({ status, headers }: Response): string[] {
  const type = headers.get('content-type');
  if (status === 202) return type === null ? [] : [`202 has the content type ${type}`];
  if (type === 'text/event-stream') return status === 200 ? [] : [`a stream has status ${status}`];
  return type === null || !/^application\/json(; charset=utf-8)?$/i.test(type)
    ? [`${status} has the content type ${String(type)}`]
    : [];
}

/** The problems in a response to a POST that isn't a stream. */
export function problemsOfBody(posted: Posted, status: number, text: string): string[] {
  const requests = requestsIn(posted);
  if (status === 202) {
    if (requests.length > 0) return ['202 for a request'];
    return text === '' ? [] : [`202 has the body ${text}`];
  }
  const messages = [JSON.parse(text) as Message | Message[]].flat();
  if (status !== 200) {
    const [only] = messages;
    if (messages.length !== 1 || only?.error === undefined) return [`${status} has the body ${text}`];
    const known = only.id === undefined || only.id === null || requests.some(({ id }) => id === only.id);
    return known ? [] : [`${status} has the id ${String(only.id)}`];
  }
  return problemsOfAnswers(requests, messages);
}

/** The problems in messages that must answer all of these requests. */
function problemsOfAnswers(requests: readonly Message[], messages: readonly Message[]): string[] {
  const expected = requests.map(({ id }) => JSON.stringify(id)).sort();
  const actual = messages
    .filter(isAnswer)
    .map(({ id }) => JSON.stringify(id))
    .sort();
  const whole = actual.length === messages.length && expected.join() === actual.join();
  return whole ? [] : [`requests ${expected.join()} have a response with ${JSON.stringify(messages)}`];
}

/** Follows the stream that answers a POST. */
export class StreamCheck {
  private readonly open: Set<unknown>;

  constructor(posted: Posted) {
    this.open = new Set(requestsIn(posted).map(({ id }) => id));
  }

  /** The problems in the next message. */
  next(message: Message): string[] {
    if (this.open.size === 0) return [`after the last answer, a stream has ${JSON.stringify(message)}`];
    if (!isAnswer(message) || this.open.delete(message.id)) return [];
    return [`a stream has an answer to another request: ${JSON.stringify(message)}`];
  }
}
