import { element, pretty } from './dom.js';

/** Who has sent a message. */
export type Sender = 'card' | 'host';

/** Cap on the rows: a card can send messages all day. */
const MAX_ROWS = 400;
const MAX_BRIEF = 160;

type Json = Readonly<Record<string, unknown>>;

/** The list of the messages between the card and the page. */
export class Messages {
  /** The methods of the requests, by sender and id. */
  private readonly methods = new Map<string, string>();

  constructor(
    private readonly list: HTMLElement,
    private readonly count: HTMLElement,
  ) {}

  /** Adds a JSON-RPC message. */
  add(sender: Sender, message: Json): void {
    const { id, method, params, result, error } = message;
    const other = sender === 'card' ? 'host' : 'card';
    if (typeof method === 'string') {
      if (id !== undefined) this.methods.set(`${sender} ${String(id)}`, method);
      return this.row(sender, {
        kind: id === undefined ? 'notification' : 'request',
        name: method,
        value: params ?? {},
      });
    }
    const key = `${other} ${String(id)}`;
    const name = this.methods.get(key) ?? 'response';
    this.methods.delete(key);
    if (error === undefined) this.row(sender, { kind: 'result', name, value: result });
    else this.row(sender, { kind: 'error', name, value: error });
  }

  /** Adds what isn't a message, such as a request that the browser has blocked. */
  note(name: string, value: unknown): void {
    this.row('card', { kind: 'blocked', name, value });
  }

  clear(): void {
    this.list.replaceChildren();
    this.methods.clear();
    this.tally();
  }

  private row(sender: Sender, { kind, name, value }: { kind: string; name: string; value: unknown }): void {
    const isAtEnd = this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 40;
    const way = sender === 'card' ? 'card → host' : 'host → card';
    const brief = JSON.stringify(value)?.slice(0, MAX_BRIEF) ?? '';
    const row = element(
      'details',
      { class: `message ${sender} ${kind}` },
      element(
        'summary',
        {},
        element('span', { class: 'way' }, kind === 'blocked' ? 'blocked' : way),
        element('span', { class: 'method' }, name),
        element('span', { class: 'kind' }, kind === 'result' || kind === 'error' ? kind : ''),
        element('time', {}, new Date().toTimeString().slice(0, 8)),
        element('span', { class: 'brief' }, brief),
      ),
    );
    row.addEventListener('toggle', () => row.append(element('pre', {}, pretty(value))), { once: true });
    this.list.append(row);
    while (this.list.childElementCount > MAX_ROWS) this.list.firstElementChild?.remove();
    if (isAtEnd) this.list.scrollTop = this.list.scrollHeight;
    this.tally();
  }

  private tally(): void {
    this.count.textContent = String(this.list.childElementCount);
  }
}
