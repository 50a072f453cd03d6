import { IsString } from 'class-validator';

import { type Client, connectClient } from '@decorum/client';
import { Tool } from '@decorum/core';

export declare const client: Client;
export declare function report(...values: unknown[]): void;
export declare function tokenFor(scope: string | undefined): Promise<string>;

class Order {
  @IsString() item!: string;
}

export class Orders {
  @Tool({ description: 'Places an order' })
  place({ item }: Order) {
    return { item, id: 1 };
  }
}

export { connectClient };
