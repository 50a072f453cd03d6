// An application whose tool fails, with the loggers that Nest's users choose. It prints what they write:
// `node nest-loggers.js nestjs-pino|PinoLogger|nest-winston`.
import { Writable } from 'node:stream';

import { McpServer, Tool } from '@decorum/core';
import { McpModule } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { Injectable, type LoggerService, Module, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { WinstonModule } from 'nest-winston';
import { Logger, LoggerModule, PinoLogger } from 'nestjs-pino';
import { createLogger, format, transports } from 'winston';

const mode = process.argv[2] as 'nestjs-pino' | 'PinoLogger' | 'nest-winston';

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
const APPS: Readonly<Record<typeof mode, { imports: ModuleMetadata['imports']; logger?: LoggerService }>> = {
  'nestjs-pino': { imports: [withPino, McpModule.forRoot(named)] },
  PinoLogger: { imports: [withPino, McpModule.forRootAsync({ inject: [PinoLogger], useFactory })] },
  'nest-winston': { imports: [McpModule.forRoot(named)], logger: WinstonModule.createLogger({ instance: winston }) },
};

async function main() {
  const { imports, logger } = APPS[mode];
  class AppModule {}
  Module({ imports: imports ?? [], providers: [Till] })(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, logger ? { logger } : { bufferLogs: true });
  if (mode !== 'nest-winston') app.useLogger(app.get(Logger));
  const client = await connect(app.get(McpServer, { strict: false }), { principal: { subject: 'ada' } });
  const result = await client.callTool('pay');
  await client.close();
  await app.close();
  process.stdout.write(`${JSON.stringify({ result, entries: lines.map((line) => JSON.parse(line) as object) })}\n`);
}

void main();
