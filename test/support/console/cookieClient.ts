/**
 * A browser's side of the console, as far as HTTP goes: a jar of cookies, and the headers that a page of ours
 * sends.
 */

export type Visitor = {
  /** Asks as a page of the console would, unless other headers are given. */
  call: (path: string, init?: RequestInit & { base?: string }) => Promise<Response>;
  /** Signs in with a token; the answer. */
  signIn: (token: string) => Promise<Response>;
  /** The Cookie header that it would send. */
  cookies: () => string;
  /** Starts with these cookies. */
  take: (cookies: string) => void;
};

/** What a page of the console sends with each call. */
export const OUR_PAGE = { 'x-windlass-console': '1', 'sec-fetch-site': 'same-origin' };

/** A browser without any cookie, at the internal listener of a gateway. */
export function visit(url: string): Visitor {
  const jar = new Map<string, string>();
  const cookies = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');

  async function call(path: string, { base = url, ...init }: RequestInit & { base?: string } = {}) {
    const headers = new Headers(init.headers ?? OUR_PAGE);
    if (jar.size > 0) headers.set('cookie', cookies());
    const answer = await fetch(new URL(path, base), { redirect: 'manual', ...init, headers });
    for (const line of answer.headers.getSetCookie()) keep(line);
    return answer;
  }

  function keep(line: string): void {
    const [pair = ''] = line.split(';', 1);
    const name = pair.slice(0, pair.indexOf('='));
    if (/; Max-Age=0(;|$)/.test(line)) jar.delete(name);
    else jar.set(name, pair.slice(name.length + 1));
  }

  return {
    call,
    cookies,
    take: (header) => {
      for (const pair of header.split('; ')) keep(pair);
    },
    signIn: (token) =>
      call('/console/session', {
        method: 'POST',
        headers: { ...OUR_PAGE, 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      }),
  };
}
