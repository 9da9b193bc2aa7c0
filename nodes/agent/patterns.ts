/**
 * Patterns of the author for destinations that a model may set. Guarantees: a URL that matches is requested
 * within the pattern, also by a server that decodes its path first. Time is linear in the value for each `*`.
 */

/** What separates values, or ends one. */
const NEVER = /[\s,;"'<>]/u;
/** Before the query of a pattern: a query or fragment would hide what the author wrote behind the `*`. */
const NEVER_IN_PATH = /[\s,;"'<>?#]/u;

/** Whether the value, or each element of a list, matches. URLs are compared as they are requested. */
export function matches(value: unknown, pattern: string): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((each) => matches(each, pattern));
  if (typeof value !== 'string') return false;
  const texts = pattern.split('*');
  if (!/^https?:/i.test(pattern)) return fits(value, texts, () => NEVER);
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  // It is not sent.
  url.hash = '';
  if (url.username !== '' || url.password !== '' || leadsUp(url)) return false;
  const query = texts.findIndex((text) => text.includes('?'));
  const isInPath = (star: number): boolean => star < texts.length - 2 || texts.at(-1) !== '';
  return fits(url.href, texts, (star) =>
    isInPath(star) && (query === -1 || star < query) ? NEVER_IN_PATH : NEVER,
  );
}

/** Whether the value is these texts with something in between. `never`: what that something cannot have. */
function fits(value: string, texts: readonly string[], never: (star: number) => RegExp): boolean {
  const [first = '', ...rest] = texts;
  if (!value.startsWith(first)) return false;
  let at = first.length;
  for (const [star, text] of rest.entries()) {
    const isLast = star === rest.length - 1;
    const next = isLast ? value.length - text.length : value.indexOf(text, at);
    if (next < at || !value.startsWith(text, next) || never(star).test(value.slice(at, next))) return false;
    at = next + text.length;
  }
  return at === value.length;
}

/** Dots, slashes, semicolons and backslashes that are escaped, once or several times. */
const ESCAPED = /%(?:25)*(2e|2f|3b|5c)/gi;

/** Whether a server that decodes the path, or takes `..;` for `..`, would go up in it. */
function leadsUp({ pathname }: URL): boolean {
  const decoded = pathname.replaceAll(ESCAPED, (_, code: string) => String.fromCodePoint(parseInt(code, 16)));
  return /(?:^|[/\\])\.\.(?:[/\\;]|$)/.test(decoded);
}
