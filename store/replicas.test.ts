import { expect, test } from 'vitest';
import { replicasIn } from './replicas.ts';

test('finds the replicas in what a primary tells', () => {
  const info = [
    '# Replication',
    'role:master',
    'connected_slaves:2',
    'slave0:ip=10.0.0.2,port=6379,state=online,offset=14,lag=1',
    'slave1:ip=fd00::3,port=6380,state=wait_bgsave,offset=0,lag=0',
    'master_replid:8f3b',
  ].join('\r\n');
  expect(replicasIn(info)).toEqual([
    { host: '10.0.0.2', port: 6379 },
    { host: 'fd00::3', port: 6380 },
  ]);
});

test('finds none where there are none', () => {
  expect(replicasIn('# Replication\r\nrole:slave\r\nmaster_host:10.0.0.1')).toEqual([]);
});
