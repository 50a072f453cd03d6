// Applications whose tool fails, one for each logger that Nest's users choose. Prints what each of them writes.
import { Writable } from 'node:stream';

import { McpServer, Tool } from '@decorum/core';
import { McpModule } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { Injectable, type LoggerService, Module, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { WinstonModule } from 'nest-winston';
import { Logger, LoggerModule, PinoLogger } from 'nestjs-pino';
import { createLogger, format, transports } from 'winston';

@Injectable()
class Till {
  @Tool({ description: 'Pays' })
  pay() {
    throw new Error('The bank refused.');
  }
}

const lines: string[] = [];
const stream = new Writable({
  write(chunk, _encoding, done) {
    lines.push(String(chunk));
    done();
  },
});

const named = { name: 'till', version: '1.0.0' };
const withPino = LoggerModule.forRoot({ pinoHttp: [{}, stream] });
const useFactory = (logger: PinoLogger) => ({ ...named, logger });
const winston = createLogger({ format: format.json(), transports: [new transports.Stream({ stream })] });

/** The modules of the application, and its logger. */
const APPS: Readonly<Record<string, { imports: ModuleMetadata['imports']; logger?: LoggerService }>> = {
  'nestjs-pino': { imports: [withPino, McpModule.forRoot(named)] },
  PinoLogger: { imports: [withPino, McpModule.forRootAsync({ inject: [PinoLogger], useFactory })] },
  'nest-winston': { imports: [McpModule.forRoot(named)], logger: WinstonModule.createLogger({ instance: winston }) },
};

async function write({ imports, logger }: (typeof APPS)[string]): Promise<object> {
  class AppModule {}
  Module({ imports: imports ?? [], providers: [Till] })(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, logger ? { logger } : { bufferLogs: true });
  if (logger === undefined) app.useLogger(app.get(Logger));
  const client = await connect(app.get(McpServer, { strict: false }), { principal: { subject: 'ada' } });
  const result = await client.callTool('pay');
  await client.close();
  await app.close();
  return { result, entries: lines.splice(0).map((line) => JSON.parse(line) as object) };
}

async function main() {
  const written: Record<string, object> = {};
  for (const [name, app] of Object.entries(APPS)) written[name] = await write(app);
  process.stdout.write(`${JSON.stringify(written)}\n`);
}

void main();
