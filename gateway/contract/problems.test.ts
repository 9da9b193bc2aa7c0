import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PROBLEMS, problemBody, problemType, type ProblemCode } from './problems.ts';

const codes = Object.keys(PROBLEMS) as ProblemCode[];
const documentation = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8');

test('the documentation lists every problem with its status and title, and no other', () => {
  const rows = [...documentation.matchAll(/^\| `([a-z-]+)` \| (\d{3}) \| (.+) \|$/gm)];
  const documented = rows.map(([, code, status, title]) => ({ code, status: Number(status), title }));
  const registered = codes.map((code) => ({
    code,
    status: PROBLEMS[code].status,
    title: PROBLEMS[code].title,
  }));
  expect(documented).toEqual(registered);
});

test('a problem has the members of RFC 9457, and the run only if there is one', () => {
  expect(JSON.parse(problemBody('reply-timeout', 'urn:uuid:1', { run: 'orders-1' }))).toEqual({
    type: 'tag:windlass.dev,2026:problem/reply-timeout',
    title: PROBLEMS['reply-timeout'].title,
    status: 504,
    detail: PROBLEMS['reply-timeout'].detail,
    instance: 'urn:uuid:1',
    run: 'orders-1',
  });
  expect(JSON.parse(problemBody('not-found', 'urn:uuid:1'))).not.toHaveProperty('run');
});

test.each(codes)('the type of %s is a URI', (code) => {
  expect(URL.canParse(problemType(code))).toBe(true);
  expect(problemType(code)).toMatch(/^[\x21-\x7e]+$/);
});
