/** URLs that can be requested, and how they are put together. */

/**
 * Why the text is not a URL that can be requested; undefined for one that is.
 * The URL parser silently drops line breaks and tabs, so they are refused first.
 */
export function urlProblem(text: string): string | undefined {
  if (/[\s\p{Cc}]/u.test(text)) return 'must not hold spaces, line breaks or other control characters';
  if (!URL.canParse(text)) return 'must be a URL such as https://api.example.com/orders';
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return 'must begin with https:// or http://';
  // The URL parser takes https:a.example, https:///a.example and https:\\a.example for https://a.example.
  if (!/^https?:\/\/[^/\\]/i.test(text)) return 'must have a host directly after https:// or http://';
  if (username !== '' || password !== '')
    return 'must not hold a user or password: use a Credential of kind http';
  return undefined;
}

/** The base URL with a path appended, which begins with a slash; undefined where the base is not a URL. */
export function joinURL(base: string, path: string): URL | undefined {
  const text = `${base.replace(/\/+$/, '')}${path}`;
  return URL.canParse(text) ? new URL(text) : undefined;
}

/**
 * Adds a parameter to a path. The rest of the query stays as it is: some servers compare it with a signature.
 */
export function addToQuery(path: string, name: string, value: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
}

/** The names in the query of a path. */
export function queryOf(path: string): URLSearchParams {
  const start = path.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : path.slice(start));
}
