import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy that can stop: connections stay open, and nothing passes. */
export class Gate {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private isStopped = false;

  private constructor(private readonly target: number) {
    this.server = createServer((near) => this.pass(near));
  }

  /** @param target the port that it connects to, on this machine */
  static async start(target: number): Promise<Gate> {
    const gate = new Gate(target);
    await once(gate.server.listen(0, '127.0.0.1'), 'listening');
    return gate;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  stop(): void {
    this.isStopped = true;
    for (const socket of this.sockets) socket.pause();
  }

  resume(): void {
    this.isStopped = false;
    for (const socket of this.sockets) socket.resume();
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private pass(near: Socket): void {
    const far = connect(this.target, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(from);
      from.setNoDelay(true);
      from.on('error', () => {});
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      from.on('data', (chunk: Buffer) => {
        if (to.write(chunk)) return;
        from.pause();
        to.once('drain', () => this.isStopped || from.resume());
      });
      if (this.isStopped) from.pause();
    }
  }
}
