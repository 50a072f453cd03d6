import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Settings of a node. */
export interface NodeSettings {
  /** URL of the Redis that the nodes share. Undefined for a server on its own. */
  readonly redis?: string;
  /** 0 for a free one. */
  readonly port: number;
  readonly keepAliveMs?: number;
  readonly sessionIdleMs?: number;
  /** Milliseconds to keep the events of streams. */
  readonly eventsMs?: number;
  /** Milliseconds for the answers of stateless clients. */
  readonly stateTtlMs?: number;
}

/** What a node tells its parent. */
export type NodeReport =
  | { readonly kind: 'up'; readonly url: string }
  | { readonly kind: 'usage'; readonly cpuUs: number; readonly running: number }
  /** A call of `hold` has begun. */
  | { readonly kind: 'begun'; readonly name: string }
  /** A call of `hold` was cancelled. */
  | { readonly kind: 'stopped'; readonly name: string }
  /** An effect of `twice` has run. */
  | { readonly kind: 'effect'; readonly name: string };

type Usage = Extract<NodeReport, { kind: 'usage' }>;

const PROGRAM = fileURLToPath(new URL('../../dist/cluster/node.js', import.meta.url));

/** Several nodes of a cluster, each in its own process. */
export class Nodes {
  private readonly children: ChildProcess[] = [];
  private readonly reports: (NodeReport & { readonly index: number })[] = [];
  private readonly arrivals = new EventEmitter().setMaxListeners(0);

  private constructor(private readonly settings: Omit<NodeSettings, 'port'>) {}

  /** Ports of the nodes. They keep them when they are started again. */
  readonly ports: number[] = [];

  static async start(count: number, settings: Omit<NodeSettings, 'port'>): Promise<Nodes> {
    const nodes = new Nodes(settings);
    await Promise.all(Array.from({ length: count }, (_, index) => nodes.launch(index, 0)));
    return nodes;
  }

  /** Kills a node, as `kill -9` does. */
  async kill(index: number): Promise<void> {
    const child = this.children[index];
    if (child === undefined || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Starts a node that was killed. */
  async restart(index: number): Promise<void> {
    await this.launch(index, this.ports[index] ?? 0);
  }

  /** Waits until a node has told this. */
  async heard(kind: NodeReport['kind'], name: string): Promise<void> {
    while (this.count(kind, name) === 0) await once(this.arrivals, 'report');
  }

  /** How often the nodes have told this. */
  count(kind: NodeReport['kind'], name: string): number {
    return this.reports.filter((each) => each.kind === kind && 'name' in each && each.name === name).length;
  }

  /** The calls of `hold` that have begun in a node. */
  begunIn(index: number): readonly string[] {
    return this.reports.flatMap((each) => (each.kind === 'begun' && each.index === index ? [each.name] : []));
  }

  /** What a node uses. */
  async usage(index: number): Promise<Usage> {
    const child = this.children[index] as ChildProcess;
    const answer = new Promise<Usage>((resolve) => {
      const take = (report: NodeReport) => {
        if (report.kind !== 'usage') return;
        child.off('message', take);
        resolve(report);
      };
      child.on('message', take);
    });
    child.send('usage');
    return await answer;
  }

  async stop(): Promise<void> {
    await Promise.all(this.children.map((_, index) => this.kill(index)));
  }

  private async launch(index: number, port: number): Promise<void> {
    const env = { ...process.env, CLUSTER_NODE: JSON.stringify({ ...this.settings, port }) };
    const child = fork(PROGRAM, [], { env, execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.children[index] = child;
    const up = new Promise<string>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`A node ended with ${code}.`)));
      child.on('message', (report: NodeReport) => {
        if (report.kind === 'up') resolve(report.url);
        this.reports.push({ ...report, index });
        this.arrivals.emit('report');
      });
    });
    this.ports[index] = Number(new URL(await up).port);
  }
}
