import { clusterCounts, definePlugin } from '@decorum/core/plugin';
import { type OptionTypes, requireOptions, requireRoutePath, startupError } from '@decorum/core/plugin';
import { collectDefaultMetrics, type OpenMetricsContentType, Registry } from 'prom-client';

import { instrumentsOf } from './instruments.js';
import { factsOf, originLabels } from './labels.js';
import { LABEL } from './names.js';

/** Options of `metrics`. */
export interface MetricsOptions {
  /** Registry for the metrics. Servers may share one. By default, a new registry. */
  readonly registry?: Registry | Registry<OpenMetricsContentType>;
  /** Path of the route that serves the registry; `false` for no route. By default, `/metrics`. */
  readonly path?: string | false;
  /**
   * Whether labels name members that are hidden from some callers, for example by `access`. Whoever can read the metrics
   * then learns of these members. By default, false.
   */
  readonly hiddenMembers?: boolean;
  /** Whether to add prom-client's process metrics, such as CPU time and heap. By default, false. */
  readonly defaultMetrics?: boolean;
}

const OPTIONS: OptionTypes<MetricsOptions> = {
  registry: true,
  path: true,
  hiddenMembers: 'boolean',
  defaultMetrics: 'boolean',
};

/** One of prom-client's process metrics. */
const DEFAULT_METRIC = 'process_cpu_user_seconds_total';

function requireUsable({ registry, path }: MetricsOptions): void {
  const wrong = (option: string, problem: string) => startupError('DECORUM_INVALID_OPTION', 'metrics', option, problem);
  if (registry !== undefined && typeof registry?.registerMetric !== 'function')
    throw wrong('registry', 'is not a registry. Pass `new Registry()` of prom-client, or leave it out');
  if (path !== undefined && path !== false && typeof path !== 'string')
    throw wrong('path', "must be a path, such as '/metrics', or `false` for no route");
  if (typeof path === 'string') requireRoutePath('metrics', ['path', path], '/metrics');
}

/** The registry, with the process metrics if they are enabled. */
function registryOf({ registry: given, defaultMetrics = false }: MetricsOptions): Registry {
  // the content type is the only difference
  const registry = (given ?? new Registry()) as Registry;
  if (defaultMetrics && registry.getSingleMetric(DEFAULT_METRIC) === undefined) {
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}

/**
 * Creates a plugin that counts and times requests, sessions and questions for Prometheus, and serves `GET /metrics`.
 * Clients can't add series by inventing names: labels contain only names that the server has registered.
 * @param options the registry, its route, and whether it has process metrics
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { McpServer } from '@decorum/core';
 * import { metrics } from '@decorum/prometheus';
 *
 * new McpServer({ name: 'shop', version: '1.0.0', plugins: [metrics()] });
 * ```
 */
export const metrics = definePlugin((options: MetricsOptions = {}) => {
  requireOptions('metrics', options, OPTIONS);
  requireUsable(options);
  const { path = '/metrics', hiddenMembers = false } = options;
  const registry = registryOf(options);
  const instruments = instrumentsOf(registry);
  let server = '';
  /** Number of servers that have started with this plugin and have not closed. All are named `server`. */
  let servers = 0;
  let requests = instruments.requests.of(server);
  const handle = async () => {
    return { status: 200, headers: { 'content-type': registry.contentType }, body: await registry.metrics() };
  };
  return {
    name: 'prometheus',
    ...(path !== false && { routes: [{ method: 'GET', path, handle }] }),

    onStart(started) {
      const { info } = started;
      servers += 1;
      if (servers > 1 && server !== info.name) {
        throw new Error(`It is on the server "${server}" too. Call \`metrics()\` once for each server.`);
      }
      server = info.name;
      requests = instruments.requests.of(server);
      instruments.cluster.add(server, clusterCounts(started));
    },

    onClose() {
      servers -= 1;
    },

    ended(request, outcome) {
      const facts = factsOf(request, outcome, hiddenMembers);
      requests.observe(facts, outcome.milliseconds / 1000);
      if (request.alias !== undefined) instruments.countAlias(server, request.alias, facts);
    },

    async ask(question, run) {
      const outcome = await run();
      instruments.observeQuestion(server, question, outcome);
    },

    session(info) {
      const labels = { [LABEL.server]: server, ...originLabels(info) };
      const began = performance.now();
      instruments.sessions.inc(labels);
      return () => {
        instruments.sessions.dec(labels);
        instruments.session.observe(labels, (performance.now() - began) / 1000);
      };
    },
  };
});
