import { McpServer, Tool } from '@decorum/core';
import { McpModule } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { expect, it } from '@jest/globals';
import { Injectable, Module, type NestInterceptor, type Type, UseInterceptors } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { map, Observable, of } from 'rxjs';

async function started(provider: Type) {
  class AppModule {}
  Module({ imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })], providers: [provider] })(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  return { app, client: await connect(app.get(McpServer)) };
}

@Injectable()
class Plain implements NestInterceptor {
  intercept(...[, next]: Parameters<NestInterceptor['intercept']>) {
    return next.handle().pipe(map((value: unknown) => value));
  }
}

it.each([
  ['without interceptors', []],
  ['with interceptors', [Plain]],
])('answers with the last value of an observable, %s', async (_what, interceptors) => {
  @UseInterceptors(...interceptors)
  @Injectable()
  class Shop {
    @Tool() count() {
      return of(1, 2, 3);
    }
  }
  const { app, client } = await started(Shop);
  expect(await client.callTool('count')).toMatchObject({ content: [{ text: '3' }] });
  await app.close();
});

it.each([
  ['without interceptors', []],
  ['with interceptors', [Plain]],
])('unsubscribes from an observable when its call is cancelled, %s', async (_what, interceptors) => {
  let begin = () => {};
  const began = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  @UseInterceptors(...interceptors)
  @Injectable()
  class Shop {
    @Tool() watch() {
      return new Observable(() => {
        begin();
        return end;
      });
    }
  }
  const { app, client } = await started(Shop);
  const controller = new AbortController();
  const call = client.callTool('watch', {}, { signal: controller.signal });
  await began;
  controller.abort(new Error('cancelled'));
  await expect(call).rejects.toThrow('cancelled');
  await ended;
  await app.close();
});
