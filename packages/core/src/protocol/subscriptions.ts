/**
 * Whether a set of subscriptions covers a resource, directly or through a parent: `docs://a/b` is part of `docs://a`.
 * @param exactly ignore parents: a client that may see the parent may not be allowed to see each part
 */
export function follows(followed: ReadonlySet<string>, uri: string, exactly = false): boolean {
  if (followed.size === 0) return false;
  if (exactly) return followed.has(uri);
  for (let end = uri.length; end > 0; end = uri.lastIndexOf('/', end - 1)) {
    if (followed.has(uri.slice(0, end)) || followed.has(uri.slice(0, end + 1))) return true;
  }
  return false;
}
