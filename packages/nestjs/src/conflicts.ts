import type { OwnedRoute } from '@decorum/core/internal';

import { startupError } from './errors.js';
import type { ModulesContainer } from '@nestjs/core';

/** The properties that must be unique among the servers of an application. */
interface Claim {
  readonly name: string;
  /** Paths of its endpoint, if it is served over HTTP. */
  readonly mounts: readonly string[];
  /** Routes of its plugins, if it is served over HTTP. */
  readonly routes: readonly OwnedRoute[];
}

/** The claims in each application. */
const claims = new WeakMap<object, readonly Claim[]>();

/** The names of an application's servers. */
export const serversOf = (modules: ModulesContainer): readonly string[] =>
  (claims.get(modules) ?? []).map(({ name }) => name);

/**
 * Checks that no other server of the application has this server's name, or any of its paths or routes.
 * @throws {DecorumError} `DECORUM_SERVER_CONFLICT`, `DECORUM_DUPLICATE_ROUTE`
 */
export function requireFree(modules: ModulesContainer, claim: Claim): void {
  const { name, mounts, routes } = claim;
  const others = claims.get(modules) ?? [];
  claims.set(modules, [...others, claim]);
  for (const other of others) {
    for (const route of routes) requireOwnRoute(route, { name, other });
    const importers = [...modules.values()].filter(({ imports }) => [...imports].some((it) => it.name === 'McpModule'));
    const where = importers.map((module) => module.name).join(', ');
    const servers = `Two servers of McpModule in ${where}, "${other.name}" and "${name}",`;
    if (other.name === name) {
      throw startupError('DECORUM_SERVER_CONFLICT', servers, 'have the same name', 'Give each its own `name`');
    }
    const path = mounts.find((each) => other.mounts.includes(each));
    if (path === undefined) continue;
    const remedy = "Give each its own `path`, as in `McpModule.forRoot({ name: 'admin', path: '/admin' })`";
    throw startupError('DECORUM_SERVER_CONFLICT', servers, `are served at one path, "${path}"`, remedy);
  }
}

/** Rejects a route that a plugin of another server also has, because only one of the two would be called. */
function requireOwnRoute({ method, path, plugin }: OwnedRoute, { name, other }: { name: string; other: Claim }): void {
  const taken = other.routes.find((each) => each.method === method && each.path === path);
  if (taken === undefined) return;
  const owners = [`the plugin "${taken.plugin}" of "${other.name}"`, `the plugin "${plugin}" of "${name}"`] as const;
  throw startupError('DECORUM_DUPLICATE_ROUTE', `${method} ${path}`, owners);
}
