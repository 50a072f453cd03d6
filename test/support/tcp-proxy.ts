import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy in front of a TCP server, which can lose and hold up connections. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((socket) => this.accept(socket));
  private isCut = false;
  private isHeld = false;

  private constructor(private readonly target: number) {}

  /** Starts a proxy in front of a port of this machine. */
  static async start(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Closes all connections, and accepts none until `join`. */
  cut(): void {
    this.isCut = true;
    this.drop();
  }

  /** Accepts connections again. */
  join(): void {
    this.isCut = false;
  }

  /** Passes nothing on, without closing anything: a partition. */
  hold(): void {
    this.isHeld = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** Passes on what was held, and all that follows. */
  release(): void {
    this.isHeld = false;
    for (const socket of this.sockets) socket.resume();
  }

  /** Closes all connections. */
  drop(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.drop();
    this.server.close();
    await once(this.server, 'close');
  }

  private accept(client: Socket): void {
    if (this.isCut) return void client.destroy();
    const server = connect(this.target, '127.0.0.1');
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(from);
      from.on('data', (data) => to.write(data));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      if (this.isHeld) from.pause();
    }
  }
}
