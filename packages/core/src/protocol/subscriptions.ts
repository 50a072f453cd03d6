/**
 * Whether a resource is among those that somebody follows, or is part of one: `docs://a/b` is part of `docs://a`.
 * @param exactly the resource itself, and not what it is part of: who may see the whole may not see each part
 */
export function follows(followed: ReadonlySet<string>, uri: string, exactly = false): boolean {
  if (followed.size === 0) return false;
  if (exactly) return followed.has(uri);
  for (let end = uri.length; end > 0; end = uri.lastIndexOf('/', end - 1)) {
    if (followed.has(uri.slice(0, end)) || followed.has(uri.slice(0, end + 1))) return true;
  }
  return false;
}
