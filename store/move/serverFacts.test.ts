/** What the answers of `INFO` and `CLIENT LIST` mean for a move. */
import { expect, test } from 'vitest';
import { memoryProblem, parseFacts, parsePrograms, serverProblems } from './serverFacts.ts';

const INFO =
  'redis_version:7.0.15\r\nrun_id:abc\r\nused_memory:1048576\r\nmaxmemory:0\r\ncluster_enabled:0\r\n';
const server = parseFacts(INFO);

test('facts of a server are read from INFO', () => {
  expect(server).toEqual({
    isMember: false,
    isReplica: false,
    runId: 'abc',
    version: 'Redis 7.0.15',
    used: 1_048_576,
    max: 0,
  });
  expect(parseFacts(`valkey_version:8.1.0\r\n${INFO}`).version).toBe('Valkey 8.1.0');
  expect(parseFacts('')).toEqual({
    isMember: false,
    isReplica: false,
    runId: '',
    version: 'Redis ',
    used: 0,
    max: 0,
  });
});

test.each([
  [
    'an old one is too old',
    server,
    { ...server, runId: 'b', version: 'Redis 6.2.14' },
    ['Redis 6.2.14 is too old: Windlass needs Redis 7, or Valkey'],
  ],
  ['the same one is no target', server, server, ['source and target are the same server']],
  [
    'a replica is no target',
    server,
    parseFacts('redis_version:7.2.4\r\nrole:slave\r\n'),
    ['the target is a replica, which takes no writes: give the URL of its primary'],
  ],
  ['one that hides its version is accepted', server, parseFacts(''), []],
])('of two servers, %s', (_, from, to, problems) => {
  expect(serverProblems([from], [to])).toEqual(problems);
});

test('a target with less memory than the source uses has no room', () => {
  const source = { ...server, used: 5 * 2 ** 20 };
  expect(memoryProblem([source], [{ ...server, max: 4 * 2 ** 20 }])).toBe(
    'the source uses 5 MiB, and the target has 3 MiB free: raise maxmemory of the target',
  );
  expect(memoryProblem([source], [{ ...server, max: 9 * 2 ** 20 }])).toBeUndefined();
  expect(memoryProblem([source], [server])).toBeUndefined();
});

test('programs are the named connections of others', () => {
  const lines = [
    'id=1 addr=10.0.0.1:5000 laddr=10.0.0.9:6379 name=windlass-gateway-7 flags=N cmd=ping',
    'id=2 addr=10.0.0.2:5000 name= flags=N cmd=info',
    'id=3 addr=10.0.0.3:5000 name=own flags=N',
    'id=4 addr=10.0.0.4:5000 name=sentinel-1234-cmd flags=N',
    'id=5 addr=10.0.0.5:5000 name=replica flags=S',
    '',
  ];
  expect(parsePrograms(lines.join('\n'), 'own')).toEqual(['windlass-gateway-7 (10.0.0.1:5000)']);
});
