import { Resource } from '@decorum/core';
import { IsString } from 'class-validator';

import { DOT_PNG } from './media.js';

class Item {
  @IsString()
  id!: string;
}

/** One resource of each kind. */
export class Resources {
  @Resource('test://static-text', { name: 'Static text', mimeType: 'text/plain' })
  staticText() {
    return 'This is the content of the static text resource.';
  }

  @Resource('test://static-binary', { name: 'Static binary', mimeType: 'image/png' })
  staticBinary() {
    return Buffer.from(DOT_PNG, 'base64');
  }

  @Resource('test://watched-resource', { name: 'Watched resource', description: 'Can be subscribed to' })
  watched() {
    return 'This resource is watched.';
  }

  @Resource('test://template/{id}/data', { name: 'Item', mimeType: 'application/json' })
  item({ id }: Item) {
    return { id, templateTest: true, data: `Data for ID: ${id}` };
  }
}
