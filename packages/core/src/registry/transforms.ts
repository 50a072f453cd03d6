import { invalidOption } from '@decorum/schema/internal';

import type { Change, Changes, TransformedMember } from './change.js';
import type { Provider } from './plan.js';
import { originalUri } from './placed-uri.js';
import type { ToolDefaults } from './tool-plan.js';
import { type AnyPlan, kindOf, transformed } from './transformed.js';

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` for anything but an object or a function */
export function requireTransform(transform: unknown, where: string): asserts transform is Changes | undefined {
  if (transform === undefined || typeof transform === 'function') return;
  if (typeof transform === 'object' && transform !== null && !Array.isArray(transform)) return;
  const remedy = "Write `transform: { pay: { name: 'pay_invoice' }, refund: false }`, or a function";
  throw invalidOption(where, 'transform', `is not an object. ${remedy}`);
}

function changeOf(transform: Changes, member: TransformedMember): Change | false | undefined {
  if (typeof transform === 'function') return transform(member);
  return Object.hasOwn(transform, member.name) ? transform[member.name] : undefined;
}

/** Applies the `transform` of a provider to its members. */
export class Transforms {
  /** The members that it has seen, by their own names. */
  private readonly known = new Set<string>();

  constructor(
    private readonly provider: Pick<Provider, 'cls' | 'prefix' | 'uriPrefix' | 'uriSegment' | 'transform'>,
    private readonly extended: ToolDefaults['extended'],
  ) {}

  /**
   * The member as it is served; undefined if it is hidden.
   * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a change that the member can't have
   */
  apply<P extends AnyPlan>(plan: P): P | undefined;
  apply(plan: AnyPlan): AnyPlan | undefined {
    const { transform, prefix } = this.provider;
    if (transform === undefined) return plan;
    const kind = kindOf(plan);
    const isNamed = kind === 'tool' || kind === 'prompt';
    const name = isNamed ? plan.key.slice(prefix.length) : (originalUri(plan.key, this.provider) ?? plan.key);
    this.known.add(name);
    const change = changeOf(transform, { kind, name, entry: plan.entry });
    if (change === undefined) return plan;
    return change === false ? undefined : transformed(plan, { change, prefix, extended: this.extended });
  }

  /** @throws {DecorumError} `DECORUM_INVALID_OPTION` for a change of a member that isn't there */
  requireAllKnown(): void {
    const { transform = {}, cls } = this.provider;
    const unknown =
      typeof transform === 'function' ? undefined : Object.keys(transform).find((name) => !this.known.has(name));
    if (unknown === undefined) return;
    const list = [...this.known].map((name) => `"${name}"`).join(', ') || 'none';
    throw invalidOption(cls.name, 'transform', `has "${unknown}", which is no member. Use the known ones: ${list}`);
  }
}
