import { expect, test } from 'vitest';
import { auditLine, type AuditEntry } from './line.ts';

const SOURCE = { program: 'gateway', pod: 'gateway-0' } as const;
const AT = new Date('2026-01-02T03:04:05.678Z');
const ENTRY: AuditEntry = {
  event: 'run.execute',
  result: 'allowed',
  user: { username: 'ada', uid: 'u-1', groups: ['dev'] },
  address: '192.0.2.1',
  object: { namespace: 'shop', name: 'orders', uid: 'w-1' },
  request: 'urn:uuid:1',
  run: 'orders-1',
};

const read = (line: string) => JSON.parse(line) as Record<string, unknown>;

test('a line says when, which program, who, from where, what, the result and the request', () => {
  expect(read(auditLine(SOURCE, AT, ENTRY))).toEqual({
    level: 'info',
    time: '2026-01-02T03:04:05.678Z',
    name: 'windlass.audit',
    program: 'gateway',
    pod: 'gateway-0',
    event: 'run.execute',
    verb: 'create',
    user: { name: 'ada', uid: 'u-1', groups: ['dev'] },
    address: '192.0.2.1',
    object: { kind: 'Workflow', namespace: 'shop', name: 'orders', uid: 'w-1' },
    result: 'allowed',
    request: 'urn:uuid:1',
    run: 'orders-1',
  });
});

test.each([
  ['allowed', 'info'],
  ['denied', 'warn'],
  ['failed', 'warn'],
] as const)('a line about what was %s has the level %s', (result, level) => {
  expect(read(auditLine(SOURCE, AT, { ...ENTRY, result })).level).toBe(level);
});

test('what is not known is left out', () => {
  expect(Object.keys(read(auditLine(SOURCE, AT, { event: 'object.read', result: 'denied' })))).toEqual([
    'level',
    'time',
    'name',
    'program',
    'pod',
    'event',
    'verb',
    'result',
  ]);
});

test.each([
  ['a line break', 'ada\n{"name":"windlass.audit","user":"root"}'],
  ['a carriage return', 'ada\r'],
  ['a quote and a backslash', '"\\'],
  ['a NUL', 'a\u0000b'],
  ['line separators of Unicode', 'a\u2028b\u2029c\u0085d'],
  ['an escape sequence of terminals', '\u001b[2Ja\u009b2J'],
  ['text that runs from right to left', 'ada\u202e\u2066nimda'],
  ['half of a surrogate pair', 'a\ud800b'],
  ['names of other scripts', 'Zoë 山田 🦊'],
  ['a name that JSON objects have', '__proto__'],
])('a name with %s stays in its line of printable ASCII, unchanged', (_what, name) => {
  const line = auditLine(SOURCE, AT, {
    ...ENTRY,
    user: { username: name, groups: [name] },
    object: { name, namespace: name },
  });
  expect(line).toMatch(/^[\x20-\x7e]+\n$/);
  expect(read(line)).toMatchObject({ user: { name, groups: [name] }, object: { name, namespace: name } });
});

test('a line is bounded, however long the names and however many the groups are', () => {
  const long = '🦊'.repeat(100_000);
  const groups = Array.from({ length: 1_000 }, (_, index) => `${index}-${long}`);
  const user = { username: long, uid: long, groups };
  const object = { kind: long, namespace: long, name: long, uid: long };
  const line = auditLine(SOURCE, AT, {
    ...ENTRY,
    user,
    object,
    address: long,
    reason: long,
    request: long,
    run: long,
    workflow: long,
    node: long,
    host: long,
    retryOf: long,
    manager: long,
    resourceVersion: long,
  });
  expect(line.length).toBeLessThan(64 * 1_024);
  expect(read(line)['user']).toMatchObject({ groupsLeftOut: 980 });
});
