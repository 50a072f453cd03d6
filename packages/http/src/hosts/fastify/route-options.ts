import type { FastifySchema } from 'fastify';

/** Route options that keep a route out of the OpenAPI document of `@fastify/swagger`. */
export const UNDOCUMENTED: { readonly schema: FastifySchema } = {
  schema: { hide: true } as FastifySchema & { readonly hide: true },
};

/** The HTTP methods that applications serve. */
export const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];
