import { type AddressInfo, type ListenOptions, Server, type Socket } from 'node:net';

import type { Asked } from '../messages.js';

const { listen } = Server.prototype;

type Callback = () => void;
type Arguments = readonly unknown[];

/** How to move the servers of this process. */
export interface Moving {
  /** The port that clients use, if it is known before the program asks for one. */
  readonly publicPort: number | undefined;
  readonly defaultPort: number;
  /** Called before a server listens. */
  readonly asking: () => void;
  /** Called once the first server listens: the program's main server. */
  readonly listening: (port: number, asked: Asked) => void;
}

/** The TCP options in the arguments of `listen`; undefined for a path, a handle or a file descriptor. */
function tcpOptions([first, second, third]: Arguments): ListenOptions | undefined {
  if (typeof first === 'object' && first !== null) {
    const options = first as ListenOptions & { fd?: unknown };
    return options.path === undefined && options.fd === undefined && !('_handle' in first) ? options : undefined;
  }
  if (typeof first === 'string' && !/^\d+$/.test(first)) return undefined;
  const host = [second, third].find((each) => typeof each === 'string');
  return { port: Number(first ?? 0) || 0, ...(host !== undefined && { host }) };
}

/**
 * Moves the TCP servers of this process to free ports on loopback. They still report the port that clients use, so the
 * program prints the right URL and accepts its `Host`.
 */
export function moveServers(moving: Moving): void {
  let servers = 0;
  Server.prototype.listen = function move(this: Server, ...args: unknown[]) {
    const options = tcpOptions(args);
    if (options === undefined) return listen.apply(this, args as Parameters<typeof listen>);
    const asked: Asked = { port: Number(options.port ?? 0), host: options.host };
    const isFirst = servers++ === 0;
    moving.asking();
    const believed = (isFirst ? moving.publicPort : undefined) ?? (asked.port || moving.defaultPort);
    believe(this, believed);
    if (isFirst) this.once('listening', () => moving.listening(realPortOf(this), { ...asked, port: believed }));
    const callback = args.find((each) => typeof each === 'function') as Callback | undefined;
    return listen.call(this, { ...options, host: '127.0.0.1', port: 0, ipv6Only: false }, callback);
  } as typeof listen;
}

const realPortOf = (server: Server): number => (Server.prototype.address.call(server) as AddressInfo).port;

function believe(server: Server, port: number): void {
  server.address = () => {
    const address = Server.prototype.address.call(server);
    return typeof address === 'object' && address !== null ? { ...address, port } : address;
  };
  server.prependListener('connection', (socket: Socket) => {
    Object.defineProperty(socket, 'localPort', { value: port, configurable: true });
  });
}
