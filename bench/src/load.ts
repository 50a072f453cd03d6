import { randomUUID } from 'node:crypto';

import { Connection } from './connection.js';
import { closeSession, type Era, openSession, prepareCall, type PreparedCall, type ToolName } from './requests.js';

/** Whom to call, and how. */
export interface Job {
  readonly url: string;
  readonly era: Era;
  readonly tool: ToolName;
  readonly connections: number;
  /** The bare route has none; it gets requests of the same size. */
  readonly hasSessions: boolean;
}

/** What the load process is told. */
export type LoadOrder =
  | { readonly kind: 'prepare'; readonly job: Job }
  | { readonly kind: 'run'; readonly calls: number }
  | { readonly kind: 'finish' };

/** What it answers: bytes of one request (with headers) and of one answer's body, or what went wrong. */
export type LoadAnswer =
  | { readonly requestBytes: number; readonly answerBytes: number; readonly error?: undefined }
  | { readonly error: string };

class Load {
  private sessions: readonly string[] = [];
  private connections: readonly Connection[] = [];
  private calls: readonly PreparedCall[] = [];

  constructor(private readonly job: Job) {}

  /** Opens sessions and connections, and verifies one answer on each. */
  async prepare(): Promise<void> {
    const { era, tool, connections, hasSessions } = this.job;
    const url = new URL(this.job.url);
    const clients = Array.from({ length: connections }, (_, client) => client);
    const needed = era === 'session' ? clients : [];
    this.sessions = await Promise.all(needed.map(() => (hasSessions ? openSession(url) : randomUUID())));
    this.calls = clients.map((client) => prepareCall({ url, era, tool, client, session: this.sessions[client] ?? '' }));
    this.connections = this.calls.map((call) => new Connection(url, call));
    await this.run(connections);
  }

  /** Never sleeps while it waits for answers: waking a sleeping process would be charged to the server that answers. */
  async run(calls: number): Promise<void> {
    let left = calls;
    const running = Promise.all(this.connections.map((connection) => connection.run(() => left-- > 0)));
    let spinning = true;
    const spin = () => void (spinning && setImmediate(spin));
    spin();
    await running.finally(() => {
      spinning = false;
    });
  }

  async finish(): Promise<void> {
    for (const connection of this.connections) connection.close();
    const { hasSessions, url } = this.job;
    if (hasSessions) await Promise.all(this.sessions.map((session) => closeSession(new URL(url), session)));
  }

  get sizes(): LoadAnswer {
    return {
      requestBytes: this.calls[0]?.request.length ?? 0,
      answerBytes: this.connections[0]?.answerBytes ?? 0,
    };
  }
}

let load: Load | undefined;

async function obey(order: LoadOrder): Promise<LoadAnswer> {
  try {
    if (order.kind === 'prepare') {
      load = new Load(order.job);
      await load.prepare();
    } else if (order.kind === 'run') await load?.run(order.calls);
    else await load?.finish();
    return load?.sizes ?? { error: 'nothing is prepared' };
  } catch (error) {
    return { error: String(error) };
  }
}

process.on('message', (order: LoadOrder) => void obey(order).then((answer) => process.send?.(answer)));
process.on('disconnect', () => process.exit());
