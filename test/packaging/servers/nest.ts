// One application with each kind of guard, interceptor, pipe and filter at each level: `node nest.js express|fastify|stdio`.
import { Completion, type CompletionContext, Context, McpServer, Prompt, Resource, Tool } from '@decorum/core';
import { McpExecutionContext, McpModule, McpRequest, serveNestStdio } from '@decorum/nestjs';
import {
  type ArgumentsHost,
  BadRequestException,
  Body,
  type CallHandler,
  Catch,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  GoneException,
  Inject,
  Injectable,
  InternalServerErrorException,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  type OnModuleDestroy,
  Post,
  Scope,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, NestFactory, REQUEST } from '@nestjs/core';
import { IsString } from 'class-validator';
import { tap } from 'rxjs';

const events: string[] = [];
const note = (event: string) => void events.push(event);

class Place {
  @IsString() city!: string;
}

const LEVELS = ['method', 'class', 'global', 'app'];
/** An exception for the filter of each level. */
const FAILURES = new Map(LEVELS.map((level) => [level, class extends GoneException {}]));

const guard = (level: string) => {
  class LevelGuard {
    canActivate(context: ExecutionContext) {
      if (context.getType<string>() !== 'mcp') return true;
      const { member, arguments: args, context: ctx } = McpExecutionContext.from(context);
      if (member.key === 'events') return true;
      const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
      if (ctx === undefined) return headers['x-role'] !== 'guest' || member.name !== 'forecast';
      note(`guard ${level}`);
      if (args?.['city'] === 'Odd' && level === 'class') throw 'odd'; // oxlint-disable-line no-throw-literal -- the point
      if (args?.['city'] === 'Never' && level === 'class') return new Promise<boolean>(() => {});
      return args?.['city'] !== `Denied-${level}`;
    }
  }
  Injectable()(LevelGuard);
  return LevelGuard;
};
const interceptor = (level: string) => {
  class LevelInterceptor {
    intercept(context: ExecutionContext, next: CallHandler) {
      if (context.getType<string>() !== 'mcp') return next.handle();
      if (McpExecutionContext.from(context).member.key === 'events') return next.handle();
      note(`interceptor ${level}`);
      return next.handle().pipe(tap(() => note(`after ${level}`)));
    }
  }
  Injectable()(LevelInterceptor);
  return LevelInterceptor;
};
const pipe = (level: string) => {
  class LevelPipe {
    transform(value: unknown) {
      if (value instanceof Place || typeof value === 'string') note(`pipe ${level} ${value.constructor.name}`);
      return value;
    }
  }
  Injectable()(LevelPipe);
  return LevelPipe;
};
const filter = (level: string) => {
  class LevelFilter {
    catch(_error: GoneException, host: ArgumentsHost) {
      note(`filter ${level}`);
      // as HTTP filters do
      host.switchToHttp().getResponse().status(500).json({});
      const { member } = McpExecutionContext.from(host);
      return member.kind === 'completion' ? ['filtered'] : `filtered by ${level}`;
    }
  }
  Catch(FAILURES.get(level) as typeof GoneException)(LevelFilter);
  return LevelFilter;
};

let close = () => {};
const closing = new Promise<void>((resolve) => {
  close = resolve;
});

@Injectable()
class Sky {
  isOpen = true;
}

const ran = (kind: string, city: string) => {
  note(`method ${kind}`);
  const Failure = FAILURES.get(city);
  if (Failure) throw new Failure();
  if (city === 'Bad') throw new BadRequestException(['city is bad', 'very bad']);
  if (city === 'Broken') throw new InternalServerErrorException('secret');
  return `${kind} ${city}`;
};

@UseGuards(guard('class'))
@UseInterceptors(interceptor('class'))
@UsePipes(pipe('class'))
@UseFilters(filter('class'))
@Injectable()
class Weather implements OnModuleDestroy {
  constructor(private readonly sky: Sky) {}

  onModuleDestroy() {
    this.sky.isOpen = false;
  }

  @UseGuards(guard('method'))
  @UseInterceptors(interceptor('method'))
  @UsePipes(pipe('method'))
  @UseFilters(filter('method'))
  @Tool({ description: 'Tomorrow’s weather' })
  forecast({ city }: Place) {
    return ran('tool', city);
  }

  @UseGuards(guard('method'))
  @UseInterceptors(interceptor('method'))
  @UsePipes(pipe('method'))
  @UseFilters(filter('method'))
  @Resource('weather://{city}/today')
  today({ city }: Place) {
    return ran('resource', city);
  }

  @UseGuards(guard('method'))
  @UseInterceptors(interceptor('method'))
  @UsePipes(pipe('method'))
  @UseFilters(filter('method'))
  @Prompt({ description: 'What to pack' })
  pack({ city }: Place) {
    return ran('prompt', city);
  }

  @UseGuards(guard('method'))
  @UseInterceptors(interceptor('method'))
  @UsePipes(pipe('method'))
  @UseFilters(filter('method'))
  @Completion({ for: 'pack', argument: 'city' })
  cities(city: string, _ctx: CompletionContext) {
    return [ran('completion', city)];
  }

  @Tool({ description: 'Takes its time' })
  async slow(_: Place, ctx: Context) {
    ctx.progress(1);
    await closing;
    return this.sky.isOpen ? 'open' : 'destroyed';
  }
}

@Injectable({ scope: Scope.REQUEST })
class User {
  readonly name: string;
  constructor(@Inject(REQUEST) request: { headers: Record<string, string> }) {
    this.name = request instanceof McpRequest ? request.transport.kind : (request.headers['x-user'] ?? 'nobody');
  }
}

let made = 0;
let waiting: (() => void)[] = [];

@Controller('users')
class Users {
  private readonly number = ++made;
  constructor(private readonly user: User) {}

  @Tool({ description: 'Tells who calls, when two do' })
  async whoami() {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length < 2) return;
      for (const each of waiting) each();
      waiting = [];
    });
    return `${this.user.name} ${this.number}`;
  }

  @Post()
  echo(@Body() body: unknown) {
    return body;
  }
}

@Injectable()
class Events {
  @Resource('test://events', { name: 'events' })
  events() {
    return JSON.stringify(events.splice(0));
  }
}

/** Not a provider of any module. */
class Outlook {
  @Tool({ description: 'The weather of the week' })
  week({ city }: Place) {
    return ran('tool', city);
  }
}

@Injectable()
class Adding {
  constructor(server: McpServer) {
    server.addTool({ name: 'added', input: Place }, ({ city }) => ran('tool', city));
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'weather', version: '1.0.0', hideGuarded: true, providers: [Outlook] })],
  providers: [
    Weather,
    Adding,
    Sky,
    User,
    Events,
    { provide: APP_GUARD, useClass: guard('app') },
    { provide: APP_INTERCEPTOR, useClass: interceptor('app') },
    { provide: APP_PIPE, useClass: pipe('app') },
    { provide: APP_FILTER, useClass: filter('app') },
  ],
  controllers: [Users],
})
class AppModule implements NestModule {
  configure(consumer: MiddlewareConsumer) {
    const guests = ({ headers }: { headers: Record<string, string> }, _response: unknown, next: () => void) => {
      if (headers['x-user'] === 'banned') throw new ForbiddenException('banned');
      next();
    };
    consumer.apply(guests).forRoutes('*');
  }
}

async function main(mode: string) {
  if (mode === 'stdio') return void (await serveNestStdio(AppModule));
  const app =
    mode === 'fastify'
      ? await NestFactory.create(AppModule, new (await import('@nestjs/platform-fastify')).FastifyAdapter())
      : await NestFactory.create(AppModule);
  app.useGlobalGuards(new (guard('global'))());
  app.useGlobalInterceptors(new (interceptor('global'))());
  app.useGlobalPipes(new (pipe('global'))(), new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true }));
  app.useGlobalFilters(new (filter('global'))());
  app.setGlobalPrefix('api');
  app.enableVersioning();
  await app.listen(0, '127.0.0.1');
  process.on('SIGTERM', () => {
    void app.close();
    setImmediate(close);
  });
  process.stderr.write(`listening on ${await app.getUrl()}\n`);
}

void main(process.argv[2] ?? 'express');
