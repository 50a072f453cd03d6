import { CORE_ERRORS } from '@decorum/core/internal';
import { errorsOf, type MessageTable } from '@decorum/schema/internal';

/** Messages of the mistakes that only an HTTP endpoint can have. Each says what is wrong, where, and how to fix it. */
const HTTP_ERRORS = {
  DECORUM_UNSAFE_HOST: (host: string) =>
    `Listening on "${host}" exposes the server to other machines, but \`allowedHosts\` is not set. List the host names that clients use (\`allowedHosts: ['mcp.example.com']\`), or listen on 127.0.0.1.`,
  DECORUM_NO_HUB: (waitedMs: number) =>
    `\`clusterHub\`: the primary process of \`node:cluster\` did not answer within ${waitedMs} ms, so its workers can't share sessions. Call \`clusterHub()\` in the primary before it forks, or start the program with \`decorum start --workers\`. If another program forks the workers, such as PM2, share sessions over Redis instead: \`cluster: redis(…)\` of @decorum/redis.`,
} satisfies MessageTable;

type OwnErrors = typeof HTTP_ERRORS;

declare module '@decorum/schema/internal' {
  interface StartupErrors extends OwnErrors {}
}

/** Creates a startup error of this package, of core or of schema. */
export const startupError = errorsOf({ ...CORE_ERRORS, ...HTTP_ERRORS });
