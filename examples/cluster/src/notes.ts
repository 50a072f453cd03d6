import { hostname } from 'node:os';

import { Context, type Lifecycle, type McpServer, NoInput, Resource, Tool } from '@decorum/core';
import { IsString, MaxLength } from 'class-validator';
import type { Redis } from 'ioredis';

class Note {
  @IsString() @MaxLength(1000) text!: string;
}

const KEY = 'notes';
const URI = 'notes://all';

/** Notes that all nodes share. Each result names the node that made it. */
export class Notes implements Lifecycle {
  private server: McpServer | undefined;
  private readonly node = `process ${process.pid} on ${hostname()}`;

  constructor(private readonly redis: Redis) {}

  onStart(server: McpServer) {
    this.server = server;
  }

  @Tool({ description: 'Adds a note', annotations: { destructiveHint: false } })
  async add({ text }: Note) {
    const count = await this.redis.rpush(KEY, text);
    // tells subscribers wherever their streams are
    this.server?.notify.resourceUpdated(URI);
    return `Note ${count}, added by ${this.node}.`;
  }

  @Tool({ description: 'Deletes all notes, if the user agrees' })
  async clear(_input: NoInput, ctx: Context) {
    const count = await this.redis.llen(KEY);
    // the answer reaches this handler, whichever node gets it
    if (!(await ctx.confirm(`Delete ${count} notes?`))) return `Kept by ${this.node}.`;
    await this.redis.del(KEY);
    this.server?.notify.resourceUpdated(URI);
    return `Deleted by ${this.node}.`;
  }

  @Resource(URI, { description: 'All notes', mimeType: 'text/plain' })
  async all() {
    return (await this.redis.lrange(KEY, 0, -1)).join('\n');
  }
}
