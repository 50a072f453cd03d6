/**
 * A path with the usual percent-encoding: characters that need none are decoded, and digits are upper case (RFC 3986,
 * sections 6.2.2.1 and 6.2.2.2).
 */
export const normalEncoding = (path: string): string =>
  path.replaceAll(/%[\da-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : code.toUpperCase();
  });

/** A path as clients send it: they encode some characters, and resolve `.` and `..`. */
export function sentPath(path: string): string {
  if (path === '') return path;
  const { pathname } = new URL(`http://localhost${path.replaceAll(/%(?![\da-f]{2})/gi, '%25')}`);
  return normalEncoding(pathname);
}

/** Whether the path of a URL is `path`, in any percent-encoding. */
export function isAt(path: string, url: string): boolean {
  const [found = ''] = url.split(/[?#]/, 1);
  return found === path || (found.includes('%') && normalEncoding(found) === path);
}
