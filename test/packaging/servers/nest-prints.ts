// An application that prints from the start, in every way that Nest supports:
// `node nest-prints.js default|levels|json|failing`.
import { Tool } from '@decorum/core';
import { McpModule, serveNestStdio } from '@decorum/nestjs';
import { ConsoleLogger, Injectable, Logger, Module, type OnModuleInit } from '@nestjs/common';

const [, , mode] = process.argv;

@Injectable()
class Clock implements OnModuleInit {
  private readonly logger = new Logger('printed by Logger');
  private readonly own = new ConsoleLogger('printed by ConsoleLogger');

  constructor() {
    this.print();
  }

  async onModuleInit() {
    await new Promise(setImmediate);
    this.print();
    if (mode === 'failing') throw new Error('printed by a hook');
  }

  @Tool({ description: 'Tells the time' })
  now() {
    this.print();
    return 'noon';
  }

  @Tool({ description: 'Fails' })
  broken() {
    throw new Error('printed by the server');
  }

  private print() {
    this.logger.log('text');
    this.own.warn('text');
    console.log('printed by console'); // oxlint-disable-line no-console -- the point
    process.stdout.write('printed by stdout\n');
  }
}

@Module({ imports: [McpModule.forRoot({ name: 'clock', version: '1.0.0' })], providers: [Clock] })
class AppModule {}

const LOGGERS = { levels: ['log', 'warn', 'error'], json: new ConsoleLogger({ json: true }) } as const;
const logger = LOGGERS[mode as keyof typeof LOGGERS];
void serveNestStdio(AppModule, logger === undefined ? {} : { app: { logger: logger as ConsoleLogger } });
