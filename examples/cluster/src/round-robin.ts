import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that sends each request to the next node. In production, use one that others have tested: see nginx.conf. */
export class RoundRobin {
  private readonly ports: number[] = [];
  private next = 0;
  private readonly server = createServer((incoming, outgoing) => this.forward(incoming, outgoing));

  add(port: number): void {
    this.ports.push(port);
  }

  remove(port: number): void {
    const at = this.ports.indexOf(port);
    if (at !== -1) this.ports.splice(at, 1);
  }

  /** Listens on this machine, and returns the URL. */
  async listen(port: number): Promise<string> {
    await once(this.server.listen(port, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const port = this.ports[this.next++ % this.ports.length];
    if (port === undefined) return void outgoing.writeHead(503, { 'retry-after': '1' }).end();
    const { method, url, headers } = incoming;
    const forwarded = { ...headers, 'x-forwarded-for': incoming.socket.remoteAddress };
    const sent = request({ host: '127.0.0.1', port, method, path: url, headers: forwarded });
    sent.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      // or Node would hold back the headers of a stream until its first event
      outgoing.flushHeaders();
      response.on('error', () => outgoing.destroy());
      response.pipe(outgoing);
    });
    sent.on('error', () => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(503, { 'retry-after': '1' }).end();
    });
    outgoing.once('close', () => sent.destroy());
    incoming.pipe(sent);
  }
}
