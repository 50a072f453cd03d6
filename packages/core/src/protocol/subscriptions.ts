/** Whether a resource is among those that somebody follows, or is part of one: `docs://a/b` is part of `docs://a`. */
export function follows(followed: ReadonlySet<string>, uri: string): boolean {
  if (followed.size === 0) return false;
  for (let end = uri.length; end > 0; end = uri.lastIndexOf('/', end - 1)) {
    if (followed.has(uri.slice(0, end)) || followed.has(uri.slice(0, end + 1))) return true;
  }
  return false;
}
