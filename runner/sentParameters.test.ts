import { expect, test } from 'vitest';
import { parseExact } from '../api/exact/exactNumber.ts';
import { echoesOf, Secret } from '../nodes/contract/secret.ts';
import { sentParameters } from './sentParameters.ts';

const token = 'sk-/very+Secret/42';
const masks = echoesOf(new Secret(token));
const login = Buffer.from(`ada:${token}`).toString('base64');

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['nothing', { to: 'a@example.com', count: 2, gone: undefined }, { to: 'a@example.com', count: 2 }],
  ['a text', { body: `key ${token}.` }, { body: 'key [secret].' }],
  ['base64', { header: Buffer.from(token).toString('base64') }, { header: '[secret]' }],
  ['a URL', { url: `https://x/?k=${encodeURIComponent(token)}&a=1` }, { url: 'https://x/?k=[secret]&a=1' }],
  ['a list and a key', { a: [{ [token]: [token] }, null] }, { a: [{ '[secret]': ['[secret]'] }, null] }],
])('secrets are masked in %s', (_where, parameters, shown) => {
  expect(sentParameters(parameters, masks)).toEqual({ parameters: shown });
});

test('a login in base64 is masked', () => {
  const { parameters } = sentParameters({ header: `Basic ${login}` }, masks);
  expect(JSON.stringify(parameters)).not.toContain(login.slice(8, -4));
});

test('exact numbers keep their digits', () => {
  const parameters = parseExact('{"n": 12345678901234567890}') as Record<string, unknown>;
  expect(JSON.stringify(sentParameters(parameters, masks).parameters)).toBe('{"n":12345678901234567890}');
});

const long = 'ä"<'.repeat(4_000);
const nested = Array.from({ length: 3_000 }, (_, index) => ({ index, name: `n${index}` }));

test.each<[string, Record<string, unknown>, (shown: Record<string, unknown>) => void]>([
  ['a long text', { body: long, to: 'a' }, ({ body, to }) => [expect(body).toMatch(/… \[cut\]$/), to]],
  ['a long list', { rows: nested }, ({ rows }) => expect((rows as unknown[]).length).toBeGreaterThan(100)],
  ['a long key', { [long]: 1 }, (shown) => expect(shown).toEqual({})],
  ['many keys', Object.fromEntries(nested.map(({ name }) => [name, 1])), ({ n0 }) => expect(n0).toBe(1)],
])('%s is cut to 8 KiB, and says so', (_what, parameters, check) => {
  const { parameters: shown, truncated } = sentParameters(parameters, []);
  expect(truncated).toBe(true);
  expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThanOrEqual(8 * 1024);
  check(shown as Record<string, unknown>);
});

test('a long text leaves room for the parameters after it', () => {
  const { parameters } = sentParameters({ prompt: 'x'.repeat(9_000), model: 'demo' }, []);
  const { prompt, model } = parameters as { prompt: string; model: string };
  expect([prompt.length, prompt.slice(-7), model]).toEqual([2_048 + 7, '… [cut]', 'demo']);
});

test('a text of less than 8 KiB is kept whole', () => {
  const prompt = 'x'.repeat(8_000);
  expect(sentParameters({ prompt }, []).truncated).toBeUndefined();
});

test('a secret where a text is cut is not cut in two', () => {
  for (let start = 2_020; start <= 2_048; start += 1) {
    const body = `${'x'.repeat(start)}${token}${'y'.repeat(9_000)}`;
    const shown = JSON.stringify(sentParameters({ body }, masks).parameters);
    expect(shown.slice(start)).not.toContain('sk-');
  }
});
