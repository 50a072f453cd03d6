/** Recognizes values that shouldn't be in a file that others read. */

/** Names of variables and parameters that usually have a secret. */
const NAME = /(?:^|[_.-])(?:api_?)?(?:key|token|secret|passwd|password|pwd|credentials?|auth|pat|dsn)s?(?:$|[_.-])/i;

/** What the secrets of well-known services begin with. */
const KNOWN =
  /^(?:sk-|sk_live_|rk_live_|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|ya29\.|npm_|hf_|eyJ[\w-]+\.|-----BEGIN )/;

/** A reference to a variable: `$NAME`, `${NAME}`, `${env:NAME}`, `${input:name}`. */
const REFERENCE = /^\$(?:\w+|\{[^}]+\})$/;

const MIN_RANDOM = 24;

/** Whether a text looks random: long, without words, and not a path. */
function looksRandom(value: string): boolean {
  if (/^[0-9a-f]{32,}$/i.test(value)) return true;
  if (value.length < MIN_RANDOM || !/^[\w+/=.-]+$/.test(value) || /^[./]/.test(value)) return false;
  return /[a-z]/.test(value) && /[A-Z]/.test(value) && (value.match(/\d/g)?.length ?? 0) > 3;
}

/** Whether a variable with this name usually has a secret. */
export const isSecretName = (name: string): boolean => NAME.test(name);

/** Whether a variable seems to have a secret as its value. */
export function looksSecret(name: string, value: string): boolean {
  if (value === '' || REFERENCE.test(value)) return false;
  return NAME.test(name) || KNOWN.test(value) || looksRandom(value) || hasPassword(value);
}

/** Whether a URL has a password, or a secret as a parameter. */
function hasPassword(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { password, searchParams } = new URL(value);
  return password !== '' || [...searchParams].some(([name, each]) => each !== '' && looksSecret(name, each));
}
