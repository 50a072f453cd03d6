import { type Context, McpServer } from '@decorum/core';
import fastifyPlugin from 'fastify';
import { IsString } from 'class-validator';

export class Booking {
  @IsString() flight!: string;
}

export class SeatChoice {
  @IsString() seat!: string;
}

export declare class Self {
  readonly airline: {
    hold(flight: string): Promise<{ readonly id: string; readonly price: string }>;
    pay(id: string, seat: SeatChoice): Promise<string>;
  };
  anySeat(flight: string): Promise<string>;
}

/** The context of a handler. */
export declare const ctx: Context;
export const flight = 'DY1234';
export const article = 'A long article';

export class Vault {
  has(_subject: string) {
    return true;
  }

  async balanceOf(_subject: string) {
    return 12;
  }

  async keep(_subject: string, _tokens: string) {}
}

export const vault = new Vault();
export const server = new McpServer({ name: 'bank', version: '1.0.0' });

/** The other service. */
export const bank = {
  signInUrl: ({ state, returnTo }: { state: string; returnTo: string }) =>
    `https://bank.example.com/?${state}&${returnTo}`,
  tokensFor: async (code: string) => `tokens for ${code}`,
};

/** The reader's own sign-in. */
export const session = async (_app: ReturnType<typeof fastifyPlugin>): Promise<void> => {};
