import type { Context, ReadResourceResult, ResourceTemplateEntry } from '@decorum/core';
import type { LiveMember, LiveSource } from '@decorum/core/plugin';

import type { Catalog } from './catalog.js';
import type { Relay } from './relay.js';

/** Serves the resources of an upstream that are on no list, such as those that its results link to. */
export class UnlistedResources implements LiveSource {
  readonly kinds = [];

  /**
   * @param catalog what the upstream lists
   * @param hides whether a template is hidden, whose URIs must stay so
   */
  constructor(
    private readonly relay: Relay,
    private readonly catalog: () => Catalog,
    private readonly hides: (template: ResourceTemplateEntry) => boolean,
  ) {}

  list(): readonly LiveMember[] {
    return [];
  }

  find(kind: string, uri: string): LiveMember | undefined {
    if (kind !== 'resource') return undefined;
    const { resource, template } = this.catalog();
    // listed, so it would have been found if it were not hidden
    if (resource.some((entry) => entry.uri === uri) || template.some((entry) => this.hides(entry))) return undefined;
    if (!this.relay.uris.mayServe(uri)) return undefined;
    return {
      entry: { uri, name: uri },
      run: async (_uri: unknown, ctx: Context): Promise<ReadResourceResult> => await this.relay.read(uri, ctx),
    };
  }
}
