// A usual Nest application, with the packages that such applications use: `node application.js express|fastify`.
import { Completion, type Context, NoInput, Prompt, Resource, Tool } from '@decorum/core';
import { McpModule, passport, requestOf } from '@decorum/nestjs';
import {
  type ArgumentsHost,
  type CallHandler,
  Catch,
  ClassSerializerInterceptor,
  ConflictException,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  GoneException,
  Inject,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  NotFoundException,
  ParseIntPipe,
  RequestTimeoutException,
  Scope,
  UseFilters,
  UseGuards,
  UseInterceptors,
  ValidationPipe,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, NestFactory, REQUEST } from '@nestjs/core';
import { AuthGuard, PassportModule, PassportStrategy } from '@nestjs/passport';
import { ApiProperty, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { Throttle, ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { Exclude } from 'class-transformer';
import { IsString } from 'class-validator';
import { ClsModule, ClsService } from 'nestjs-cls';
import { Strategy } from 'passport-http-bearer';
import { NEVER, of, timeout, TimeoutError } from 'rxjs';
import { catchError } from 'rxjs/operators';

import { Wish, zod } from './wish.js';

class User {
  id!: string;
  name!: string;
  @Exclude() password?: string;

  constructor(fields: Partial<User>) {
    Object.assign(this, fields);
  }
}

const USERS: Readonly<Record<string, User>> = {
  'token-of-ada': new User({ id: 'u1', name: 'Ada', password: 'secret' }),
};

/** As the documentation of `@nestjs/passport` writes it. */
@Injectable()
class BearerStrategy extends PassportStrategy(Strategy, 'bearer') {
  async validate(token: string) {
    return Promise.resolve(USERS[token] ?? false);
  }
}

const SignedIn = AuthGuard('bearer');
const CurrentUser = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<{ user: User }>().user,
);

const FromHeader = createParamDecorator(
  (name: string, context: ExecutionContext) =>
    context.switchToHttp().getRequest<{ headers: Record<string, string> }>().headers[name],
);

@Injectable()
class TenantGuard {
  constructor(@Inject(ClsService) private readonly cls: ClsService) {}

  canActivate(context: ExecutionContext) {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
    this.cls.set('tenant', headers['x-tenant'] ?? 'none');
    return true;
  }
}

@Injectable()
class Impatient implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(
      timeout(20),
      catchError((error: unknown) => {
        throw error instanceof TimeoutError ? new RequestTimeoutException() : error;
      }),
    );
  }
}

interface HostResponse {
  status(code: number): { json?(body: object): unknown; send(body: object): unknown };
}

/** As the documentation of Nest writes it: it answers the HTTP request itself. */
@Catch(GoneException)
class HttpFilter {
  catch(error: GoneException, host: ArgumentsHost) {
    const response = host.switchToHttp().getResponse<HostResponse>().status(error.getStatus());
    return response.json ? response.json({ message: error.message }) : response.send({ message: error.message });
  }
}

@Catch(ConflictException)
class ValueFilter {
  catch(error: ConflictException) {
    return { resolved: error.message };
  }
}

class Greeting {
  @ApiProperty({ description: 'Whom to greet', example: 'Ada' })
  @IsString()
  name!: string;
}

/** Every call needs a bearer token. */
@Injectable()
@UseGuards(SignedIn, TenantGuard)
@UseFilters(HttpFilter, ValueFilter)
class Desk {
  constructor(@Inject(ClsService) private readonly cls: ClsService) {}

  @Tool({ description: 'Tells who is signed in' })
  whoami(@CurrentUser() user: User) {
    return `${user.id} ${user.name}`;
  }

  @Tool({ description: 'Returns the profile' })
  profile(@CurrentUser() user: User) {
    return user;
  }

  @Tool({ description: 'Imports three users' })
  async *importUsers(@CurrentUser() user: User) {
    for (const progress of [1, 2, 3]) yield { progress, total: 3 };
    return user;
  }

  @Tool({ description: 'Greets' })
  greet({ name }: Greeting) {
    return `Hello ${name}`;
  }

  @Tool({ description: 'Returns the id of the request' })
  requestId() {
    return this.cls.getId();
  }

  @Tool({ description: 'Returns the tenant' })
  async tenant() {
    await Promise.resolve();
    return this.cls.get<string>('tenant');
  }

  @Tool({ description: 'Makes a wish' })
  wish({ text, times }: Wish) {
    return `${text} ${times}`;
  }

  @Tool({ description: 'Fails with an exception that a filter answers by HTTP' })
  gone() {
    throw new GoneException('This desk has moved.');
  }

  @Tool({ description: 'Fails with an exception that a filter turns into a value' })
  conflict() {
    throw new ConflictException('two orders');
  }

  @Tool({ description: 'Fails with an exception' })
  missing() {
    throw new NotFoundException('There is no such order.');
  }

  @Tool({ description: 'Fails' })
  broken() {
    throw new Error('password=hunter2');
  }

  @Tool({ description: 'Returns an observable' })
  stream() {
    return of('first', 'last');
  }

  @Tool({ description: 'Reads a header' })
  count(@FromHeader('x-count', ParseIntPipe) count: number) {
    return count + 1;
  }

  @Tool({ description: 'Never ends' })
  @UseInterceptors(Impatient)
  slow() {
    return NEVER;
  }

  @Tool({ description: 'Draws a number' })
  @Throttle({ default: { limit: 2, ttl: 60_000 } })
  lottery() {
    return 7;
  }

  @Resource('desk://hours', { description: 'Opening hours' })
  hours() {
    return '9 to 5';
  }

  @Prompt({ description: 'Writes a letter' })
  letter({ name }: Greeting, @CurrentUser() user: User) {
    return `A letter of ${user.name} to ${name}`;
  }

  @Completion({ for: 'letter', argument: 'name' })
  names(value: string) {
    return ['Grace', 'Ada'].filter((name) => name.startsWith(value));
  }
}

@Injectable({ scope: Scope.REQUEST })
class Basket {
  constructor(@Inject(REQUEST) private readonly request: { headers: Record<string, string> }) {}

  @Tool({ description: 'Names the basket of this request' })
  basket() {
    return `basket of ${this.request.headers['x-tenant']}`;
  }
}

@Controller('users')
class UsersController {
  @Get('me')
  @UseGuards(SignedIn)
  me(@CurrentUser() user: User) {
    return user;
  }
}

@Module({
  imports: [PassportModule],
  providers: [BearerStrategy, Desk, Basket],
  controllers: [UsersController],
  exports: [BearerStrategy],
})
class DeskModule {}

/** Its endpoint signs in with the strategy itself, so an HTTP client gets a 401. */
@Injectable()
class Safe {
  @Tool({ description: 'Opens the safe' })
  open(_input: NoInput, { principal }: Context) {
    return `opened by ${principal?.subject}`;
  }
}

@Module({ providers: [Safe] })
class SafeModule {}

/** Its caller is the user that a middleware has signed in. */
@Injectable()
class Board {
  @Tool({ description: 'Reads the board' })
  read(_input: NoInput, context: Context) {
    // on Fastify, middleware has the request of Node.js
    const { raw, user = raw?.user } = requestOf<{ user?: User; raw?: { user?: User } }>(context) ?? {};
    return `${context.principal?.subject ?? 'nobody'} ${user?.name}`;
  }
}

@Module({ providers: [Board] })
class BoardModule {}

const CLS = {
  global: true,
  middleware: {
    mount: true,
    generateId: true,
    idGenerator: ({ headers }: { headers: Record<string, string> }) => headers['x-request-id'] ?? 'generated',
  },
};

@Module({
  imports: [
    ClsModule.forRoot(CLS),
    ThrottlerModule.forRoot([{ limit: 1000, ttl: 60_000 }]),
    DeskModule,
    SafeModule,
    BoardModule,
    McpModule.forRoot({ name: 'desk', version: '1.0.0', include: [DeskModule] }),
    McpModule.forRootAsync({
      name: 'safe',
      imports: [DeskModule],
      inject: [BearerStrategy],
      useFactory: (strategy: BearerStrategy) => ({
        name: 'safe',
        version: '1.0.0',
        path: '/safe',
        include: [SafeModule],
        auth: passport(strategy),
      }),
    }),
    McpModule.forRoot({
      name: 'board',
      version: '1.0.0',
      path: '/board',
      include: [BoardModule],
      principal: 'request.user',
    }),
  ],
  providers: [
    { provide: APP_GUARD, useClass: ThrottlerGuard },
    { provide: APP_INTERCEPTOR, useClass: ClassSerializerInterceptor },
    ...zod,
  ],
})
class AppModule {
  configure(consumer: MiddlewareConsumer) {
    const signIn = (
      request: { headers: Record<string, string>; user?: User },
      _response: unknown,
      next: () => void,
    ) => {
      const user = USERS[request.headers['x-session'] ?? ''];
      if (user) request.user = user;
      next();
    };
    consumer.apply(signIn).forRoutes('board');
  }
}

async function main(platform: string) {
  const app =
    platform === 'fastify'
      ? await NestFactory.create(AppModule, new (await import('@nestjs/platform-fastify')).FastifyAdapter())
      : await NestFactory.create(AppModule);
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, transform: true }));
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, new DocumentBuilder().build()));
  await app.listen(0, '127.0.0.1');
  process.stderr.write(`listening on ${await app.getUrl()}\n`);
}

void main(process.argv[2] ?? 'express');
