import type { JsonObject, Shape } from '@decorum/schema/internal';

import { PRIVATE_EFFECT } from '../../protocol/effects.js';
import { McpError } from '../../protocol/errors.js';
import type { CallToolResult } from '../../protocol/model.js';
import { withHiddenShown } from '../../text/hidden-text.js';
import { type Caller, RUN, WITHIN } from '../caller.js';
import type { Member } from '../plan.js';
import { type InputCheck, requireValid } from '../tool-input.js';
import { planMethod } from './plan-method.js';
import { awaitAnswer, recordPlan, useConfirmed, usePlan } from './plan-records.js';
import { declined, planResult, refused, textOfPlan } from './plan-result.js';
import type { Preview } from './preview-option.js';
import { ticketOf } from './ticket-argument.js';

/** The key of the effect that keeps a plan while its user is asked. */
const PLAN = `${PRIVATE_EFFECT}plan`;

/** The key of the question to the user. */
const QUESTION = 'dev.decorum/preview';

/** Characters of a plan that a user is asked to confirm. Nobody confirms what they have not seen. */
const MAX_ASKED_CHARS = 4000;

/** Runs a tool. The arguments may be wrapped, see `admitting`. */
type Run = (args: never, caller: Caller) => CallToolResult | Promise<CallToolResult>;

/** The arguments of a run, and what to do once they have turned out to be valid. */
interface Admitted {
  readonly args: JsonObject;
  admit(): Promise<void>;
}

/**
 * The check of a tool's arguments, for calls that carry out a plan. A ticket is used only once everything else that
 * could refuse the call has let it pass.
 */
export function admitting(input: InputCheck, isHosted: boolean): InputCheck {
  return {
    check(given) {
      const { args, admit } = given as Admitted;
      const check = async () => {
        const value = requireValid(await input.check(args));
        await admit();
        return value;
      };
      if (isHosted) return { ok: true, value: { kind: 'tool', args, check } };
      return check().then((value) => ({ ok: true, value }) as const);
    },
  };
}

/** What a tool with a preview is made of. */
interface PreviewedTool {
  readonly member: Member<'tool'>;
  readonly preview: Preview;
  readonly input: InputCheck;
  readonly output: Shape | undefined;
  /** Runs the tool, with the check of `admitting`. */
  readonly run: Run;
}

/** Runs a tool with a preview: shows a plan, or carries one out. */
export function previewing({ member, preview, input, output, run }: PreviewedTool) {
  const { by, ask, ttlMs } = preview;
  const make = planMethod(member, by, input);

  const show = async (args: JsonObject, plan: unknown, caller: Caller): Promise<CallToolResult> => {
    caller.signal.throwIfAborted();
    const ticket = await recordPlan(caller, { plan, args, ttlMs });
    return planResult({ plan, ticket, ttlMs, hasOutput: output !== undefined });
  };

  const carryOut = async (args: JsonObject, caller: Caller, source: PlanSource) => {
    const planned: { plan?: unknown } = {};
    const admit = async () => {
      planned.plan = await takePlan(args, caller, source);
    };
    const admitted: Admitted = { args, admit };
    try {
      return await run(admitted as never, caller[WITHIN]({ planned }));
    } finally {
      if (caller[RUN].isAsking) await awaitAnswer(caller, 'ticket' in source ? source.ticket : undefined);
    }
  };

  const confirm = async (args: JsonObject, caller: Caller): Promise<CallToolResult> => {
    const plan = await caller[RUN].effects.once(PLAN, () => make(args, caller));
    const agreed = await asked(plan, caller);
    if (agreed === undefined) return await show(args, plan, caller);
    caller.signal.throwIfAborted();
    return agreed ? await carryOut(args, caller, { confirmed: plan }) : declined();
  };

  return async (args: JsonObject, caller: Caller): Promise<CallToolResult> => {
    const { ticket, rest } = ticketOf(args, caller[RUN].meta);
    if (ticket !== undefined) return await carryOut(rest, caller, { ticket });
    return ask ? await confirm(rest, caller) : await show(rest, await make(rest, caller), caller);
  };
}

/** A ticket as the client sent it, or a plan that the user has confirmed. */
type PlanSource = { readonly ticket: unknown } | { readonly confirmed: unknown };

/**
 * The plan to carry out, which is used from now on.
 * @throws {ToolError} if it is refused
 */
async function takePlan(args: JsonObject, caller: Caller, source: PlanSource): Promise<unknown> {
  const used = 'ticket' in source ? await usePlan(caller, source.ticket, args) : await useConfirmed(caller);
  if ('refusal' in used) throw refused(used.refusal);
  caller.signal.throwIfAborted();
  return 'ticket' in source ? used.plan : source.confirmed;
}

/** Asks the user to confirm a plan. Undefined if the client can't ask, or can't show all of it, and if there is nothing to read. */
async function asked(plan: unknown, caller: Caller): Promise<boolean | undefined> {
  const text = withHiddenShown(typeof plan === 'string' ? textOfPlan(plan) : JSON.stringify(plan, null, 2));
  if (text.trim() === '' || text.length > MAX_ASKED_CHARS) return undefined;
  try {
    return await caller.confirm(text, { key: QUESTION });
  } catch (error) {
    if (error instanceof McpError && error.kind === 'missing-capability') return undefined;
    throw error;
  }
}
