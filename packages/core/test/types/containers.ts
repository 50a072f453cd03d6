// Compiled, never run: the container examples of docs/dependency-injection.md against the real packages.
import { type Class, type Context, type Interceptor, McpServer, type Resolve, Tool } from '@decorum/core';
import { createContainer } from 'awilix';
import { container, type DependencyContainer, injectable } from 'tsyringe';

@injectable()
class Calendar {
  @Tool() today() {}
}

const office = { name: 'office', version: '1.0.0', providers: [Calendar] };

export const tsyringe = new McpServer({ ...office, resolve: (cls) => container.resolve(cls) });

const awilix = createContainer();
export const built = new McpServer({ ...office, resolve: (cls) => awilix.build(cls) });

class Files {
  static async create() {
    return await Promise.resolve(new Files());
  }
}
export const asynchronous: Resolve = async (cls) => (cls === Files ? await Files.create() : new cls());

// a function that takes a `Class`
export const map: Resolve = (cls: Class) => new Map<Class, object>([[Calendar, new Calendar()]]).get(cls) ?? {};

const scopes = new WeakMap<Context, DependencyContainer>();

const withScope: Interceptor = async ({ ctx }, next) => {
  const scope = container.createChildContainer();
  scopes.set(ctx, scope);
  try {
    return await next();
  } finally {
    await scope.dispose();
  }
};

const requestContainer = (context: Context) => scopes.get(context) ?? container;

export const scoped = new McpServer({
  ...office,
  providers: [{ provider: Calendar, scope: 'request', prefix: 'my_', uriPrefix: 'my+' }],
  resolve: (cls, context) => (context ? requestContainer(context) : container).resolve(cls),
  interceptors: [withScope],
});

// @ts-expect-error -- must return an instance or a promise of one
export const nothing: Resolve = () => undefined;
