import { CORE_ERRORS } from '@decorum/core/internal';
import { errorsOf, type MessageTable } from '@decorum/schema/internal';

/** Messages of the mistakes that only a Nest application can have. Each says what is wrong, where, and how to fix it. */
const NEST_ERRORS = {
  DECORUM_NOTHING_SERVED: (server: string, searched: Iterable<string>) =>
    `The server "${server}" of McpModule has nothing to serve: no provider or controller of ${[...searched].join(', ')} has a decorated method. Decorate one with @Tool, @Resource, @Prompt or @Completion, and list its class in a module that the server includes. Or pass \`providers\` to McpModule.forRoot, or call \`addTool\` before the application starts.`,
  DECORUM_SERVER_CONFLICT: (servers: string, what: string, remedy: string) => `${servers} ${what}. ${remedy}.`,
  DECORUM_UNBOUND_ENHANCER: (where: string, enhancer: string, remedy: string) =>
    `${where}: Nest would not run ${enhancer}. ${remedy}.`,
} satisfies MessageTable;

type OwnErrors = typeof NEST_ERRORS;

declare module '@decorum/schema/internal' {
  interface StartupErrors extends OwnErrors {}
}

/** Creates a startup error of this package, of core or of schema. */
export const startupError = errorsOf({ ...CORE_ERRORS, ...NEST_ERRORS });
