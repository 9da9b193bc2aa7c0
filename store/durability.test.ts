import { expect, test } from 'vitest';
import { durabilityProblems } from './durability.ts';

const DURABLE = 'aof_enabled:1\r\naof_last_write_status:ok\r\nmaxmemory_policy:noeviction\r\n';

test.each<[string, string, string[]]>([
  ['a durable server', DURABLE, []],
  ['a service that shows nothing of it', 'redis_version:7.0.15\r\n', []],
  ['no append-only file', DURABLE.replace('enabled:1', 'enabled:0'), ['NoAppendOnlyFile']],
  ['keys that are evicted', DURABLE.replace('noeviction', 'allkeys-lru'), ['EvictsKeys']],
  ['a log that cannot be written', DURABLE.replace('status:ok', 'status:err'), ['LogNotWritable']],
])('%s', (_name, info, problems) => {
  expect(durabilityProblems(info)).toEqual(problems);
});
