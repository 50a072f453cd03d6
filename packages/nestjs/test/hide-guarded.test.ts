import { Completion, Prompt, Resource } from '@decorum/core';
import { connect } from '@decorum/testing';
import { expect, it } from '@jest/globals';
import { Injectable, UseGuards } from '@nestjs/common';
import { IsString } from 'class-validator';

import { Denied, serve } from './fixture.js';

class Order {
  @IsString() id!: string;
}

@Injectable()
class Orders {
  @UseGuards(Denied)
  @Resource('orders://{id}', { name: 'order' })
  order({ id }: Order) {
    return id;
  }

  @Resource('shop://hours', { name: 'hours' })
  hours() {
    return '9 to 5';
  }

  @UseGuards(Denied)
  @Prompt({ description: 'Sums up an order' })
  summary({ id }: Order) {
    return id;
  }

  @Completion({ for: ['order', 'summary'], argument: 'id' })
  ids() {
    return ['o-1', 'o-2'];
  }
}

/** A client of the orders. */
async function connected(hideGuarded: boolean, era: 'stateful' | 'stateless') {
  const { server } = await serve([Orders], { hideGuarded });
  return await connect(server, { era });
}

it('hideGuarded asks guards before subscriptions and completions', async () => {
  const client = await connected(true, 'stateful');
  await client.subscribe('shop://hours');
  await expect(client.subscribe('orders://o-1')).rejects.toThrow('Resource not found');
  const id = { name: 'id', value: '' };
  await expect(client.complete({ prompt: 'summary' }, id)).rejects.toThrow('Unknown prompt');
  await expect(client.complete({ resource: 'orders://{id}' }, id)).rejects.toThrow('Unknown resource template');
});

it('hideGuarded asks guards before it listens for changes of resources', async () => {
  const client = await connected(true, 'stateless');
  const resourceSubscriptions = ['shop://hours', 'orders://o-1'];
  void client.request('subscriptions/listen', { notifications: { resourceSubscriptions } }).catch(() => {});
  const { params } = await client.nextNotification('notifications/subscriptions/acknowledged');
  expect(params).toMatchObject({ notifications: { resourceSubscriptions: ['shop://hours'] } });
});

it('without hideGuarded, guards stand around calls only', async () => {
  const client = await connected(false, 'stateful');
  await client.subscribe('orders://o-1');
  expect((await client.complete({ prompt: 'summary' }, { name: 'id', value: '' })).values).toEqual(['o-1', 'o-2']);
  await expect(client.readResource('orders://o-1')).rejects.toThrow('Forbidden resource');
});
