/** Recognizes values that shouldn't be in a file that others read. */

/** Names of variables and parameters that usually have a secret. */
const NAME =
  /(?:^|[_.-])(?:api_?)?(?:key|token|secret|passwd|password|passphrase|pwd|pw|credentials?|auth|pat|dsn)s?(?:$|[_.-])/i;

/** Names that have one also as a part of a word, such as `PGPASSWORD` and `AUTHTOKEN`. */
const WORD = /(?:passw(?:or)?d|passphrase|secret|token|api_?key|private_?key|access_?key)$/i;

/** What the secrets of well-known services begin with. */
const KNOWN =
  /^(?:sk-|[sr]k_(?:live|test)_|whsec_|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|ya29\.|npm_|hf_|eyJ[\w-]+\.|-----BEGIN |(?:Bearer|Basic) [\w+/=.-]{16})/;

/** A secret in a longer text, such as `AccountKey=…;`. */
const INSIDE = /(?:^|[;\s])(?:AccountKey|SharedAccessKey|password|pwd)=[^;\s]/i;

/** A reference to a variable: `$NAME`, `${NAME}`, `${env:NAME}`, `${input:name}`. */
export const REFERENCE = /^\$(?:\w+|\{[^}]+\})$/;

/** What no secret is: a number, a choice, or a path. */
const PLAIN = /^(?:\d{1,7}|true|false|yes|no|on|off|none|[A-Za-z]:\\.*|\.{0,2}\/.*)$/i;

const MIN_RANDOM = 24;

/** Whether a text looks random: long, without words, and not a path. */
function looksRandom(value: string): boolean {
  if (/^[0-9a-f]{32,}$/i.test(value)) return true;
  if (value.length < MIN_RANDOM || !/^[\w+/=.-]+$/.test(value) || /^[./]/.test(value)) return false;
  return /[a-z]/.test(value) && /[A-Z]/.test(value) && (value.match(/\d/g)?.length ?? 0) > 3;
}

/** Whether a variable with this name usually has a secret. */
export const isSecretName = (name: string): boolean => {
  const words = name.replaceAll(/([a-z])([A-Z])/g, '$1_$2');
  return NAME.test(words) || WORD.test(words);
};

/** Whether a variable seems to have a secret as its value. */
export function looksSecret(name: string, value: string): boolean {
  if (value === '' || REFERENCE.test(value)) return false;
  if (KNOWN.test(value) || INSIDE.test(value) || looksRandom(value) || hasSecret(value)) return true;
  return isSecretName(name) && !PLAIN.test(value) && !/^https?:/i.test(value);
}

/** Whether a URL has a password, or a secret in its path or as a parameter. */
function hasSecret(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { password, pathname, searchParams } = new URL(value);
  const isInPath = pathname.split('/').some((each) => KNOWN.test(each) || looksRandom(each));
  const isInParameter = [...searchParams].some(([name, each]) => {
    if (each === '' || REFERENCE.test(each)) return false;
    return isSecretName(name) || looksSecret(name, each);
  });
  return password !== '' || isInPath || isInParameter;
}
