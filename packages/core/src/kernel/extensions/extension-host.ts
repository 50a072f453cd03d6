import { attempt, type JsonObject } from '@decorum/schema/internal';

import { UNKNOWN_CLIENT } from '../../protocol/checks.js';
import { FAILURES, McpError } from '../../protocol/errors.js';
import type { Tool } from '../../protocol/model.js';
import { revisionOf } from '../../protocol/revisions/index.js';
import type { Revision } from '../../protocol/revisions/revision.js';
import { BASE, denialOf } from '../../protocol/scopes.js';
import { partsOf } from '../../registry/every-access.js';
import type { Condition } from '../../registry/listing.js';
import type { Registry } from '../../registry/registry.js';
import type { ToolPlan } from '../../registry/tool-plan.js';
import { meetsAll, type Reader, readerOf } from '../admission.js';
import type { ClusterServer } from '../cluster.js';
import type { Context } from '../context.js';
import { EXCHANGE } from '../context-keys.js';
import type { Events } from '../events.js';
import { type RunParts, runDetached, unknownTool } from './detached-run.js';
import type { Extension, ExtensionHost } from './extension.js';

/** What the hosts of extensions need of their server. */
export interface HostParts extends RunParts {
  readonly registry: Registry;
  readonly events: Events;
  /** Seals and reports for the server. */
  readonly server: ClusterServer;
  readonly hasSecret: boolean;
  readonly isClustered: boolean;
  readonly isMounted: boolean;
}

/** Extensions follow nothing that has conditions. */
const NOBODY: Reader = {
  principal: undefined,
  transport: { kind: 'extension' },
  caller: { client: UNKNOWN_CLIENT, revision: '', sessionId: undefined, meta: undefined },
};

const revisionFor = (id: string): Revision => revisionOf(id) as Revision;

/** The conditions for calling a tool. */
const guardsOf = ({ access, need }: ToolPlan): readonly Condition[] => [
  ...(access === undefined ? [] : partsOf(access)),
  ...(need === undefined ? [] : [need]),
];

function mayCall(plan: ToolPlan | undefined, ctx: Context, server: ClusterServer): boolean | Promise<boolean> {
  if (plan === undefined) return true;
  // what the transport requires of every request, the request has met
  const reader: Reader = { ...readerOf(ctx[EXCHANGE]()), authorization: undefined };
  return meetsAll(guardsOf(plan), reader, (error) => server.report(error));
}

/** What a server does for one of its extensions. */
export function hostOfExtension({ id }: Extension, parts: HostParts): ExtensionHost {
  const { registry, events, server, hasSecret, isClustered, isMounted } = parts;
  return {
    server: server.name,
    isClustered,
    isMounted,
    optionsOf: (tool) => registry.tools.find(tool)?.extras?.options,
    admits: (tool, ctx) => mayCall(registry.tools.find(tool), ctx, server),
    resource: (uri) => registry.resources.get(uri)?.entry,
    run(call, host) {
      if (call.visibility !== undefined) registry.useTags();
      const plan = registry.tools.find(call.tool);
      if (plan === undefined) throw unknownTool(call.tool);
      const denial = denialOf({ principal: call.principal, authorization: undefined }, [plan.need ?? BASE]);
      if (denial) throw denial;
      return runDetached(plan, { call, host, origin: undefined }, parts);
    },
    writeResult: (revision, tool, result) =>
      revisionFor(revision).toolResult(result, registry.tools.find(tool)?.entry ?? ({} as Tool)),
    writeQuestion: (revision, question) => revisionFor(revision).question(question)?.params,
    codeOf(revision, error) {
      const code = error instanceof McpError ? revisionFor(revision).errorCode(error) : undefined;
      return code ?? FAILURES['internal-error'].code;
    },
    publish: (data: JsonObject) => events.publish({ kind: 'extension', id, data }),
    subscribe(listener) {
      const own = {
        reader: NOBODY,
        wantsList: () => false,
        wantsResource: () => false,
        followed: [],
        notify: () => {},
        // an error must not keep the change from others
        extended: (from: string, published: JsonObject) =>
          void (
            from === id &&
            attempt(
              () => listener(published),
              (error) => server.report(error),
            )
          ),
      };
      events.join(own);
      return () => events.leave(own);
    },
    seal: hasSecret ? (text, binding) => server.seal(text, `${id} ${binding}`) : undefined,
    open: (sealed, binding) => server.open(sealed, `${id} ${binding}`),
    report: (error, message) => server.report(error, message),
  };
}
