/** A run store with the accounts that the chart gives it, killed and started again. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATOR_ACCOUNT } from '../../store/accounts.ts';
import { connectRunStore, type RunStoreConnection } from '../../store/connection.ts';
import { openProject } from '../../runs/project.ts';
import { readRun } from '../../runs/read.ts';
import { submit } from '../../runs/submit.ts';
import { aclFile } from '../support/runStore/aclFile.ts';
import { startRedis, type TestRedis } from '../support/runStore/redis.ts';

const project = 'p-1';
const password = 'of the operator';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const acl = aclFile({ operatorSha256: sha256(password), gatewaySha256: sha256('other') });

let redis: TestRedis;
const open: RunStoreConnection[] = [];
beforeAll(async () => {
  redis = await startRedis({ acl });
});
afterAll(async () => {
  await Promise.all(open.map((conn) => conn.close()));
  await redis?.stop();
});

async function loggedIn(): Promise<RunStoreConnection> {
  const conn = connectRunStore({ url: redis.url, name: 'test', username: OPERATOR_ACCOUNT, password });
  open.push(conn);
  await conn.ready(AbortSignal.timeout(10_000));
  return conn;
}

/** What the server says to a client that did not log in. */
async function answerToNobody(): Promise<string> {
  const socket = connect(redis.port, '127.0.0.1');
  socket.write('GET anything\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString();
}

test('it holds after its restart what scripts wrote before, although no account but those of Windlass may log in', async () => {
  const before = await loggedIn();
  expect(await openProject(before, project)).toMatchObject({ outcome: 'done', fresh: true });
  const submitted = await submit(before, {
    project,
    workflow: 'orders',
    workflowUid: 'w-1',
    revision: 'orders-1',
    trigger: 'webhook',
    input: '{"text_content":"","data_content":{}}',
    bodyHash: '',
    test: false,
  });
  if (submitted.outcome !== 'accepted') throw new Error(`not accepted: ${submitted.outcome}`);

  await redis.restart();

  const after = await loggedIn();
  expect(await readRun(after, project, submitted.run)).toMatchObject({
    phase: 'Pending',
    workflow: 'orders',
  });
  expect(await openProject(after, project)).toMatchObject({ outcome: 'done', fresh: false });
  expect(await answerToNobody()).toMatch(/^-NOAUTH/);
});
