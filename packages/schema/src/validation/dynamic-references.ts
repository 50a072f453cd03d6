import type { Ajv, CodeGen, CodeKeywordDefinition, Name } from 'ajv';

/**
 * Repairs the code that ajv 8.20 generates for `$dynamicRef`: it declares a result, and declares the same name again in an
 * inner block instead of assigning to it. So the outer one stays false, and the keywords beside the reference are skipped.
 */
export function repairDynamicReferences(ajv: Ajv): void {
  const rule = ajv.RULES.all['$dynamicRef'] as { definition: CodeKeywordDefinition } | undefined;
  // draft-07 doesn't know the keyword
  if (rule === undefined) return;
  const { code } = rule.definition;
  rule.definition = { ...rule.definition, code: (cxt) => declaringOnce(cxt.gen, () => code(cxt)) };
}

/** Turns each second declaration of a name into an assignment. */
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
