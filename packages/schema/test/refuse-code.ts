/** What `Function` is in a runtime that forbids generated code. */
const REFUSED: FunctionConstructor = new Proxy(Function, { construct: refuse, apply: refuse });

function refuse(): never {
  throw new EvalError('Code generation from strings disallowed for this context');
}

const [own, inherited] = [globalThis, Function.prototype];

/** Forbids generated code from now on. Returns a function that allows it again. */
export function refuseCode(): () => void {
  const allowed = Function;
  own.Function = REFUSED;
  inherited.constructor = REFUSED;
  return () => {
    own.Function = allowed;
    inherited.constructor = allowed;
  };
}
