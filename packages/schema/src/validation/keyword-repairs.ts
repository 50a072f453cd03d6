import type { Ajv, CodeGen, CodeKeywordDefinition, KeywordCxt, Name } from 'ajv';

/** Repairs keywords of ajv 8.20 that let wrong values pass, or fail because of a value that a client can send. */
export function repairKeywords(ajv: Ajv): void {
  repair(ajv, '$dynamicRef', declaringOnce);
  for (const keyword of ['const', 'enum']) repair(ajv, keyword, comparingOwn);
}

function repair(ajv: Ajv, keyword: string, around: (gen: CodeGen, generate: () => void) => void): void {
  const rule = ajv.RULES.all[keyword] as { definition: CodeKeywordDefinition } | undefined;
  // draft-07 doesn't know `$dynamicRef`
  if (rule === undefined) return;
  const { code } = rule.definition;
  rule.definition = { ...rule.definition, code: (cxt: KeywordCxt) => around(cxt.gen, () => code(cxt)) };
}

/**
 * Turns each second declaration of a name into an assignment. ajv declares the result of `$dynamicRef`, and again in an
 * inner block. So the outer one stays false, and the keywords beside the reference are skipped.
 */
function declaringOnce(gen: CodeGen, generate: () => void): void {
  const declare = gen.let.bind(gen);
  const declared = new Set<Name>();
  gen.let = (name, value, isConstant) => {
    if (typeof name !== 'string' && declared.has(name) && value !== undefined) {
      gen.assign(name, value);
      return name;
    }
    const made = declare(name, value, isConstant);
    declared.add(made);
    return made;
  };
  try {
    generate();
  } finally {
    gen.let = declare;
  }
}

/** Compares by own members. ajv's function calls `valueOf` and `toString`, which may be fields of the value. */
function comparingOwn(gen: CodeGen, generate: () => void): void {
  const scoped = gen.scopeValue.bind(gen);
  gen.scopeValue = (prefix, value) => (prefix === 'func' ? scoped(prefix, { ref: isEqual }) : scoped(prefix, value));
  try {
    generate();
  } finally {
    gen.scopeValue = scoped;
  }
}

/** Whether two JSON values are equal. */
function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  const keys = Object.keys(left);
  if (Array.isArray(left) !== Array.isArray(right) || keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key as never], right[key as never]));
}
