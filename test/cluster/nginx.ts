import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { freePort } from '../../bench/dist/cluster/free-port.js';

const config = (port: number, nodes: readonly number[]) => `
daemon off;
pid nginx.pid;
error_log stderr error;
worker_processes 1;
events {}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  upstream nodes {
    ${nodes.map((node) => `server 127.0.0.1:${node};`).join('\n    ')}
    keepalive 32;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://nodes;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`;

/** Debian's nginx, which sends each request to the next node. */
export class Nginx {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly port: number,
  ) {}

  /** @throws {Error} if it doesn't start */
  static async start(nodes: readonly number[]): Promise<Nginx> {
    const [port, folder] = [await freePort(), mkdtempSync(join(tmpdir(), 'nginx-'))];
    writeFileSync(join(folder, 'nginx.conf'), config(port, nodes));
    const args = ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'];
    const child = spawn('/usr/sbin/nginx', args, { stdio: ['ignore', 'inherit', 'inherit'] });
    const nginx = new Nginx(child, folder, port);
    await nginx.answers();
    return nginx;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** It has no way to say that it listens. */
  private async answers(): Promise<void> {
    while (this.child.exitCode === null) {
      const socket = connect(this.port, '127.0.0.1');
      const isUp = await Promise.race([
        once(socket, 'connect').then(
          () => true,
          () => false,
        ),
        wait(1000, false),
      ]);
      socket.destroy();
      if (isUp) return;
      await wait(20);
    }
    throw new Error(`nginx ended with ${this.child.exitCode}.`);
  }
}
