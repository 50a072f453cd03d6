import { IsString } from 'class-validator';

export { RateLimiterRedis } from 'rate-limiter-flexible';

export class OrderId {
  @IsString() id!: string;
}

export class OrderStore {
  async find(id: string) {
    return { id, total: 12 };
  }

  async refund(id: string) {
    return `${id} is paid back.`;
  }

  async notesOf(id: string) {
    return `Notes on ${id}`;
  }
}

export class NewFile {
  @IsString() name!: string;
  @IsString() text!: string;
}

export class FileStore {
  async names(): Promise<string[]> {
    return [];
  }

  async write({ name }: NewFile) {
    return `${name} is written.`;
  }
}

export class NewName {
  @IsString() id!: string;
  @IsString() name!: string;
}

export class Self {
  readonly store = { rename: async (id: string, name: string) => `${id} is called ${name} now.` };
}

export const metrics = { record: (_name: string, _milliseconds: number) => {} };

/** A Redis client. */
export const redis: unknown = {};
