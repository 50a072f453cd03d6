import { Completion, McpServer, Prompt, Resource } from '@decorum/core';
import { McpModule } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { expect, it } from '@jest/globals';
import { type CanActivate, Injectable, Module, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IsString } from 'class-validator';

class Order {
  @IsString() id!: string;
}

@Injectable()
class Closed implements CanActivate {
  canActivate() {
    return false;
  }
}

@Injectable()
class Orders {
  @UseGuards(Closed)
  @Resource('orders://{id}', { name: 'order' })
  order({ id }: Order) {
    return id;
  }

  @Resource('shop://hours', { name: 'hours' })
  hours() {
    return '9 to 5';
  }

  @UseGuards(Closed)
  @Prompt({ description: 'Sums up an order' })
  summary({ id }: Order) {
    return id;
  }

  @Completion({ for: ['order', 'summary'], argument: 'id' })
  ids() {
    return ['o-1', 'o-2'];
  }
}

async function started(hideGuarded: boolean) {
  class AppModule {}
  const server = McpModule.forRoot({ name: 'shop', version: '1.0.0', hideGuarded });
  Module({ imports: [server], providers: [Orders] })(AppModule);
  return await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
}

it('hideGuarded asks guards before subscriptions and completions', async () => {
  const app = await started(true);
  const client = await connect(app.get(McpServer), { era: 'stateful' });
  await client.subscribe('shop://hours');
  await expect(client.subscribe('orders://o-1')).rejects.toThrow('Resource not found');
  const id = { name: 'id', value: '' };
  await expect(client.complete({ prompt: 'summary' }, id)).rejects.toThrow('Unknown prompt');
  await expect(client.complete({ resource: 'orders://{id}' }, id)).rejects.toThrow('Unknown resource template');
  await app.close();
});

it('hideGuarded asks guards before it listens for changes of resources', async () => {
  const app = await started(true);
  const client = await connect(app.get(McpServer), { era: 'stateless' });
  const resourceSubscriptions = ['shop://hours', 'orders://o-1'];
  void client.request('subscriptions/listen', { notifications: { resourceSubscriptions } }).catch(() => {});
  const { params } = await client.nextNotification('notifications/subscriptions/acknowledged');
  expect(params).toMatchObject({ notifications: { resourceSubscriptions: ['shop://hours'] } });
  await app.close();
});

it('without hideGuarded, guards stand around calls only', async () => {
  const app = await started(false);
  const client = await connect(app.get(McpServer), { era: 'stateful' });
  await client.subscribe('orders://o-1');
  expect((await client.complete({ prompt: 'summary' }, { name: 'id', value: '' })).values).toEqual(['o-1', 'o-2']);
  await expect(client.readResource('orders://o-1')).rejects.toThrow('Forbidden resource');
  await app.close();
});
