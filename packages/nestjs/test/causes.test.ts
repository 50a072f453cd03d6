import { McpServer, Prompt, Resource, Tool } from '@decorum/core';
import type { Plugin } from '@decorum/core/plugin';
import { McpModule } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { expect, it } from '@jest/globals';
import {
  BadRequestException,
  type CanActivate,
  Injectable,
  InternalServerErrorException,
  Module,
  NotFoundException,
  RequestTimeoutException,
  UseGuards,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

class Denying implements CanActivate {
  canActivate() {
    return false;
  }
}

const ERRORS = {
  wrong: () => new BadRequestException('wrong'),
  missing: () => new NotFoundException('missing'),
  late: () => new RequestTimeoutException('late'),
  failed: () => new InternalServerErrorException('failed'),
  bug: () => new Error('bug'),
};
let next: keyof typeof ERRORS = 'bug';

@Injectable()
class Shop {
  @Tool() fail() {
    throw ERRORS[next]();
  }
  @Resource('docs://fail') read(): string {
    throw ERRORS[next]();
  }
  @Prompt() ask(): string {
    throw ERRORS[next]();
  }
  @UseGuards(Denying) @Tool({ name: 'closed' }) closedTool() {}
  @UseGuards(Denying) @Resource('docs://closed') closedResource() {
    return '';
  }
  @UseGuards(Denying) @Prompt({ name: 'closed' }) closedPrompt() {
    return '';
  }
}

it('plugins learn why calls of Nest applications failed, whatever the member (#23)', async () => {
  const causes: unknown[] = [];
  const plugin: Plugin = {
    name: 'causes',
    ended(_request, { cause }) {
      if (cause !== undefined) causes.push(cause);
    },
  };
  class AppModule {}
  const options = { name: 'shop', version: '1.0.0', plugins: [plugin] };
  Module({ imports: [McpModule.forRoot(options)], providers: [Shop] })(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  const client = await connect(app.get(McpServer));
  const causesOf = async (tool: string, uri: string, prompt: string) => {
    causes.length = 0;
    await client.callTool(tool);
    await client.readResource(uri).catch(() => {});
    await client.getPrompt(prompt).catch(() => {});
    return causes;
  };
  expect(await causesOf('closed', 'docs://closed', 'closed')).toEqual(['denied', 'denied', 'denied']);
  for (const [error, cause] of Object.entries({
    wrong: 'invalid-arguments',
    missing: 'not-found',
    late: 'timeout',
    failed: 'bug',
    bug: 'bug',
  })) {
    next = error as keyof typeof ERRORS;
    expect([error, await causesOf('fail', 'docs://fail', 'ask')]).toEqual([error, [cause, cause, cause]]);
  }
  await app.close();
});
