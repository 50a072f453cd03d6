import type { LiveKind, LiveMembers, Sought } from '../live-members.js';
import type { AnyPlan } from '../transformed.js';
import type { Policy, PolicyDefaults } from './policy.js';
import { limitedTo } from './timeout.js';

/**
 * A member that no class of the server declares, such as one of a mounted server, with the server's time limit. It holds
 * unless the member has one of its own.
 */
export function limitedPlan<P extends AnyPlan>(plan: P, { timeoutMs: ms, reporter }: PolicyDefaults): P {
  if (ms === undefined) return plan;
  const { where } = plan;
  const kind = 'mirrored' in plan ? 'tool' : 'run' in plan ? 'prompt' : 'resource';
  // what the hints of other servers say may be wrong
  const mayRepeat = kind !== 'tool';
  const limited = { ...plan, ...limitedRun(plan, limitedTo({ ms, kind, where, mayRepeat, reporter })) };
  if (!('completions' in plan)) return limited;
  const policy = limitedTo({ ms, kind: 'completion', where, mayRepeat: true, reporter });
  return { ...limited, completions: limitedCompletions(plan.completions, policy) };
}

/** A live source whose members have the server's time limit. */
export const limitedLive = (source: LiveMembers, defaults: PolicyDefaults): LiveMembers =>
  defaults.timeoutMs === undefined ? source : new LimitedLive(source, defaults);

function limitedRun(plan: AnyPlan, policy: Policy): Partial<AnyPlan> {
  if ('mirrored' in plan) return { run: (args, caller) => policy({ args, caller }, (inner) => plan.run(args, inner)) };
  if ('run' in plan) return { run: (args, caller) => policy({ args, caller }, (inner) => plan.run(args, inner)) };
  return {
    read: (uri, variables, caller) => policy({ args: { uri }, caller }, (inner) => plan.read(uri, variables, inner)),
  };
}

function limitedCompletions(all: Completions, policy: Policy): Completions {
  const limited = [...all].map(([argument, complete]): [typeof argument, typeof complete] => [
    argument,
    (value, caller) => policy({ args: { argument, value }, caller }, (inner) => complete(value, inner)),
  ]);
  return new Map(limited);
}

type Completions = Extract<AnyPlan, { completions: unknown }>['completions'];

class LimitedLive implements LiveMembers {
  private readonly plans = new WeakMap<AnyPlan, AnyPlan>();

  constructor(
    private readonly source: LiveMembers,
    private readonly defaults: PolicyDefaults,
  ) {}

  get kinds(): readonly LiveKind[] {
    return this.source.kinds;
  }

  owns(uri: string): boolean {
    return this.source.owns(uri);
  }

  guards(uri: string): ReturnType<LiveMembers['guards']> {
    return this.source.guards(uri);
  }

  readonly list = async (kind: LiveKind, context: object): Promise<readonly AnyPlan[]> =>
    (await this.source.list(kind, context)).map((plan) => this.planOf(plan));

  async find(kind: Sought, key: string, context: object): Promise<AnyPlan | undefined> {
    const plan = await this.source.find(kind, key, context);
    return plan && this.planOf(plan);
  }

  private planOf(plan: AnyPlan): AnyPlan {
    const limited = this.plans.get(plan) ?? limitedPlan(plan, this.defaults);
    this.plans.set(plan, limited);
    return limited;
  }
}
