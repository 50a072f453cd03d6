import type { JsonObject } from '@decorum/schema/internal';

import type { Tool } from '../../protocol/model.js';
import type { Revision } from '../../protocol/revisions/revision.js';
import type { Authorization } from '../../protocol/wire.js';
import { ListPages } from '../../registry/page.js';
import { withSecuritySchemes } from '../tool-sign-in.js';
import type { MethodParts } from './method.js';

/** The pages of `tools/list`. Their tools have security schemes if the transport wants them. */
export function toolPages({
  registry,
  ...parts
}: Pick<MethodParts, 'registry' | 'server' | 'pageSize' | 'cache' | 'cursorKeys'>) {
  type Encode = (revision: Revision, tool: Tool) => JsonObject;
  /** Pages for each variant of clients that extensions tell apart. */
  const pagesOf = (encode: Encode) => {
    const create = (variant: number) =>
      new ListPages<Tool>({
        ...parts,
        member: 'tools',
        encode(revision, tool) {
          const write = registry.tools.get(tool.name)?.extras?.write;
          const entry = encode(revision, tool);
          return write === undefined ? entry : write(entry, revision.id, variant);
        },
      });
    const known = new Map<number, ListPages<Tool>>();
    return (variant: number) => {
      const pages = known.get(variant) ?? create(variant);
      known.set(variant, pages);
      return pages;
    };
  };
  const plain = pagesOf((revision, tool) => revision.tool(tool));
  const signIn = new WeakMap<Authorization, ReturnType<typeof pagesOf>>();
  return (authorization: Authorization | undefined): ReturnType<typeof pagesOf> => {
    if (authorization?.toolChallenge === undefined) return plain;
    const known = signIn.get(authorization);
    if (known) return known;
    const encode = (revision: Revision, tool: Tool) =>
      withSecuritySchemes(tool, registry.tools.get(tool.name)?.need, { revision, authorization });
    const own = pagesOf(encode);
    signIn.set(authorization, own);
    return own;
  };
}
