import { isServedBy, type LiveKind, type LiveMembers, listedAs, type Sought } from './live-members.js';
import { originalUri } from './placed-uri.js';
import type { AnyPlan } from './transformed.js';
import type { Transforms } from './transforms.js';

/** What a mounted live source needs of both servers. */
export interface MountedLiveParts {
  readonly place: { readonly prefix: string; readonly uriPrefix: string; readonly uriSegment?: string | undefined };
  /** Set if members may have other names than their source knows. */
  readonly transforms: Transforms | undefined;
  /** A member, as the server that mounts serves it. */
  mounted(plan: AnyPlan): AnyPlan;
  /** The conditions of the resource with a URI of the mounted server, with those of the mount. */
  guarded(uri: string, guards: ReturnType<LiveMembers['guards']>): ReturnType<LiveMembers['guards']>;
  /** Whether a provider of the mounted server has a name, URI or template. */
  isTaken(kind: LiveKind, key: string): boolean;
  /** Whether a provider of the mounted server serves a URI. */
  serves(uri: string): boolean;
  /** Reports a member that clients would reject. */
  report(error: Error): void;
}

/** A live source of a mounted server, as the server that mounts serves it. */
export class MountedLive implements LiveMembers {
  /** The members by those of the source; undefined for those that are invalid or hidden. */
  private readonly plans = new WeakMap<AnyPlan, AnyPlan | undefined>();

  constructor(
    private readonly source: LiveMembers,
    private readonly parts: MountedLiveParts,
  ) {}

  get kinds(): readonly LiveKind[] {
    return this.source.kinds;
  }

  owns(uri: string): boolean {
    const own = originalUri(uri, this.parts.place);
    return own !== undefined && this.source.owns(own);
  }

  guards(uri: string): ReturnType<LiveMembers['guards']> {
    const own = originalUri(uri, this.parts.place) ?? uri;
    return this.parts.guarded(own, this.source.guards(own));
  }

  readonly list = async (kind: LiveKind, context: object): Promise<readonly AnyPlan[]> => {
    const plans = await this.source.list(kind, context);
    return plans.flatMap((plan) => (this.parts.isTaken(kind, plan.key) ? [] : (this.planOf(plan) ?? [])));
  };

  async find(kind: Sought, key: string, context: object): Promise<AnyPlan | undefined> {
    const { transforms, isTaken, serves } = this.parts;
    const own = this.ownKey(kind, key);
    if (own === undefined) return undefined;
    const isRegistered = isTaken(kind, own) || (kind === 'resource' && (serves(own) || isTaken('template', own)));
    const found = isRegistered ? undefined : await this.source.find(kind, own, context);
    const plan = found && this.planOf(found);
    if (plan && isServedBy(plan, key)) return plan;
    return transforms && (await listedAs(this, { kind, key }, context));
  }

  private ownKey(kind: Sought, key: string): string | undefined {
    const { place } = this.parts;
    if (kind === 'resource') return originalUri(key, place);
    return key.startsWith(place.prefix) ? key.slice(place.prefix.length) : undefined;
  }

  private planOf(plan: AnyPlan): AnyPlan | undefined {
    if (this.plans.has(plan)) return this.plans.get(plan);
    let served: AnyPlan | undefined;
    try {
      const mounted = this.parts.mounted(plan);
      served = this.parts.transforms ? this.parts.transforms.apply(mounted) : mounted;
    } catch (error) {
      this.parts.report(error as Error);
    }
    this.plans.set(plan, served);
    return served;
  }
}
