import { expect, test } from 'vitest';
import { sessionCookie, sessionCookieHeaders } from './cookie.ts';

const FULL = 'f'.repeat(3_800);
const PLAIN = { secure: false };
const SECURE = { secure: true };

/** The Cookie header of a browser that had `before` and was given these lines. */
function browserWith(before: string, lines: string[] | undefined): string {
  const jar = new Map(
    before === '' ? [] : before.split('; ').map((pair) => pair.split('=', 2) as [string, string]),
  );
  for (const line of lines ?? []) {
    const [name = '', value = ''] = (line.split(';', 1)[0] ?? '').split('=', 2);
    if (/; Max-Age=0(;|$)/.test(line)) jar.delete(name);
    else jar.set(name, value);
  }
  return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
}

test.each([1, 3_800, 3_801, 7_600, 11_400])('a value of %i characters is read back', (length) => {
  const value = 'Ab-_'.repeat(length).slice(0, length);
  for (const options of [PLAIN, SECURE]) {
    const lines = sessionCookieHeaders(value, undefined, { ...options, maxAgeSeconds: 604_800 });
    expect(lines).toHaveLength(Math.min(3, Math.floor(length / 3_800) + 1));
    for (const line of lines ?? []) expect(line.length).toBeLessThanOrEqual(4_096);
    expect(sessionCookie(browserWith('theme=dark', lines), options)).toBe(value);
  }
});

test('a value that exceeds the headers of a request is refused', () => {
  expect(sessionCookieHeaders('x'.repeat(11_401), undefined, PLAIN)).toBeUndefined();
});

test('a shorter value deletes the rest of a longer one, and an empty value deletes everything', () => {
  const long = browserWith('theme=dark', sessionCookieHeaders('a'.repeat(9_000), undefined, PLAIN));
  const short = browserWith(long, sessionCookieHeaders('b'.repeat(10), long, PLAIN));
  expect(short).toBe(`theme=dark; windlass_console=${'b'.repeat(10)}`);
  expect(browserWith(long, sessionCookieHeaders('', long, PLAIN))).toBe('theme=dark');
});

test.each([10, 3_800, 4_000])(
  '%i characters are read back beside unseen parts of a longer value',
  (length) => {
    const long = browserWith('', sessionCookieHeaders('a'.repeat(11_400), undefined, PLAIN));
    const value = 'b'.repeat(length);
    expect(sessionCookie(browserWith(long, sessionCookieHeaders(value, undefined, PLAIN)), PLAIN)).toBe(
      value,
    );
  },
);

test('the cookie is invisible to scripts and not sent by other sites', () => {
  expect(sessionCookieHeaders('abc', undefined, { ...PLAIN, maxAgeSeconds: 60 })).toEqual([
    'windlass_console=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Strict',
  ]);
  expect(sessionCookieHeaders('abc', undefined, SECURE)).toEqual([
    '__Host-windlass_console=abc; Path=/; HttpOnly; SameSite=Strict; Secure',
  ]);
});

test('cookies of a neighbouring host are ignored over TLS, and rank below secure ones otherwise', () => {
  for (const options of [PLAIN, SECURE])
    expect(sessionCookie('windlass_console=theirs; __Host-windlass_console=ours', options)).toBe('ours');
  expect(sessionCookie('windlass_console=theirs', SECURE)).toBe('');
  const both = 'windlass_console=old; __Host-windlass_console=ours';
  expect(browserWith(both, sessionCookieHeaders('new', both, SECURE))).toBe('__Host-windlass_console=new');
});

test.each([
  [undefined, ''],
  ['', ''],
  ['other=1', ''],
  ['windlass_console.1=b', ''],
  ['windlass_consoleX=b', ''],
  [`windlass_console=${FULL}; windlass_console.2=c`, FULL],
  [
    `windlass_console=${FULL}; windlass_console.1=${FULL}; windlass_console.2=${FULL}; windlass_console.3=d`,
    FULL.repeat(3),
  ],
  ['windlass_console=a; windlass_console.1=b', 'a'],
  [' windlass_console = a ', 'a'],
  ['windlass_console=a; windlass_console=b', 'a'],
  ['=; ;;=x; windlass_console=a', 'a'],
])('the header %s has the session "%s"', (header, value) => {
  expect(sessionCookie(header, PLAIN)).toBe(value);
});
