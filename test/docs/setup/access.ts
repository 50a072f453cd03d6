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

export const metrics = { record: (_name: string, _milliseconds: number) => {} };

/** A client of Redis. */
export const redis: unknown = {};
