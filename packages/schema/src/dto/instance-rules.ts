import { andThen } from '../values/maybe-promise.js';
import { type Ignores, runRules } from '../rules/class-facts.js';
import type { ClassReading, FieldModel } from './class-model.js';
import { unreachedIn } from './nested-values.js';
import { describeRuleErrors } from '../validation/problems.js';
import type { Checked, Problem } from '../shape.js';

const holdsUnreached = ({ isUnreached, convert }: FieldModel): boolean =>
  isUnreached === true && typeof convert?.to === 'object';

/** class-validator treats a record as a single value, so rules for each of its values are left to the schema. */
function ignoresOf({ models }: ClassReading): Ignores | undefined {
  const records = models.flatMap(({ cls, fields }) =>
    fields.filter(({ isRecord }) => isRecord).map(({ key }) => [cls, key] as const),
  );
  if (records.length === 0) return undefined;
  return (cls, rule) => rule.each === true && records.some(([of, key]) => of === cls && key === rule.propertyName);
}

/** Compiles a check that runs class-validator on an instance, and on nested instances that it doesn't reach itself. */
export function compileRules(reading: ClassReading): (instance: object) => Checked | Promise<Checked> {
  const ignores = ignoresOf(reading);
  const hasUnreached = reading.models.some(({ fields }) => fields.some(holdsUnreached));
  const problemsIn = (instance: object, keys: readonly string[]) =>
    andThen(runRules(instance, ignores), (errors) => describeRuleErrors(errors, keys));
  return (instance) => {
    const judge = (problems: readonly Problem[]): Checked =>
      problems.length === 0 ? { ok: true, value: instance } : { ok: false, problems };
    const own = problemsIn(instance, []);
    if (!hasUnreached) return andThen(own, judge);
    const found = [own, ...unreachedIn(instance, reading.root).map((inner) => problemsIn(inner.instance, inner.keys))];
    if (found.some((each) => each instanceof Promise)) return Promise.all(found).then((all) => judge(all.flat()));
    return judge((found as Problem[][]).flat());
  };
}
