import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelRun } from '../../../runs/cancel.ts';
import { advance } from '../../../runs/advance.ts';
import { addFailure } from '../../../runs/failures.ts';
import { sendPulse } from '../../../runs/pulse.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { claimPollerLease } from '../../../store/polling/pollerLease.ts';
import { dropTrigger, putTrigger } from '../../../store/polling/triggers.ts';
import { CHECKS } from '../../../store/requests/checks.ts';
import { NO_WORK } from '../../support/runStore/pulse.ts';
import {
  accepted,
  claimedOne,
  newProject,
  startRunStore,
  submissionOf,
  type TestStore,
} from '../../support/runStore/runStore.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startRunStore();
});
afterAll(() => store.stop());

const waiting = { id: 'a', phase: 'Waiting', attempts: 1 } as const;
async function pulseOf(project: string, runner = 'runner-1') {
  const sent = await sendPulse(store.conn, project, runner);
  if (isUnavailable(sent)) throw new Error(`no pulse: ${JSON.stringify(sent)}`);
  return sent;
}

test('a pulse counts up the heartbeat, and says that there is nothing to do where there is nothing', async () => {
  const project = await newProject(store.conn);
  expect(await pulseOf(project)).toEqual({ outcome: 'sent', heartbeat: 1, pulse: NO_WORK });
  expect(await pulseOf(project)).toMatchObject({ heartbeat: 2 });
  expect(await pulseOf(project, 'runner-2')).toMatchObject({ heartbeat: 1, pulse: { runners: 2 } });
});

test('a pulse says that runs are ready, claimed, to be cancelled, parked and to be recorded', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project));
  expect(await pulseOf(project)).toMatchObject({ pulse: { ...NO_WORK, hasReady: true } });
  const ref = await claimedOne(conn, project);
  const { pulse } = await pulseOf(project);
  expect(pulse).toMatchObject({ hasReady: false, hasClaims: true, hasCancels: false });
  // The beginning of a run is recorded a little later, together with what follows.
  expect(pulse.unrecordedMs).toBeGreaterThan(0);
  await advance(conn, ref, {
    checkpoints: [waiting],
    waits: [{ id: 'a', delayMs: 5_000 }],
    parkMs: 5_000,
  });
  const parked = await pulseOf(project);
  expect(parked.pulse).toMatchObject({ hasClaims: false });
  expect(parked.pulse.parkedMs).toBeGreaterThan(3_000);
  await cancelRun(conn, project, ref.run);
  expect(await pulseOf(project)).toMatchObject({ pulse: { parkedMs: undefined, unrecordedMs: 0 } });
});

test('a pulse says that there are failures to report and requests to answer, but none that a runner is answering', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const event = { workflow: 'a', run: 'r', trigger: 't', node: '', reason: '', message: '', url: '' };
  await addFailure(conn, project, { workflow: 'b' }, event);
  const spec = { smtp: { host: '127.0.0.1', port: 1, tls: 'None', from: 'a@example.com' } } as const;
  await CHECKS.ask(conn, project, 'uid-c', { key: 'k', name: 'c', spec, failures: 0 });
  expect(await pulseOf(project)).toMatchObject({ pulse: { hasFailures: true, checksMs: 0 } });
  await CHECKS.take(conn, project, 1);
  const { pulse } = await pulseOf(project);
  expect(pulse.checksMs).toBeGreaterThan(10_000);
});

test('a pulse says that triggers are polled, and that no runner has seen that there are none any more', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  const names = { workflow: 'a', workflowUid: 'a', revision: 'a-1', place: 'a' };
  await putTrigger(conn, project, { ...names, kind: 'mail', fields: {}, intervalSeconds: 60 });
  expect(await pulseOf(project)).toMatchObject({ pulse: { hasPolls: true } });
  await dropTrigger(conn, project, 'a');
  expect(await pulseOf(project)).toMatchObject({ pulse: { hasPolls: true } });
  await claimPollerLease(conn, project, 'runner');
  expect(await pulseOf(project)).toMatchObject({ pulse: { hasPolls: false } });
});

test.each(['memoryExpiry', 'checks', 'registrations', 'parked', 'unrecorded'] as const)(
  'a damaged key does not stop the heartbeat, and counts as work: %s',
  async (name) => {
    const project = await newProject(store.conn);
    await store.conn.command('set', keysOf(project)[name], 'damaged');
    const { pulse } = await pulseOf(project);
    const times = [
      pulse.memoriesMs,
      pulse.checksMs,
      pulse.registrationsMs,
      pulse.parkedMs,
      pulse.unrecordedMs,
    ];
    expect(times.filter((ms) => ms !== undefined)).toEqual([0]);
  },
);

test('the first heartbeat of a runner is announced to the others, further ones are not', async () => {
  const project = await newProject(store.conn);
  const heard: (string | undefined)[] = [];
  const { heartbeats } = keysOf(project);
  await store.conn.subscriber().subscribe(heartbeats, (message) => heard.push(message));
  const listens = async () => {
    await store.conn.command('publish', heartbeats, 'begin');
    return heard.includes('begin');
  };
  await expect.poll(listens).toBe(true);
  heard.length = 0;
  await pulseOf(project, 'first');
  await pulseOf(project, 'first');
  await pulseOf(project, 'second');
  await expect.poll(() => heard.filter((name) => name !== 'begin')).toEqual(['first', 'second']);
});

test('memories above their part of the quota are to be removed now', async () => {
  const project = await newProject(store.conn, 1_000_000);
  const { meta } = keysOf(project);
  await store.conn.command('hset', meta, 'memory', 249_000);
  expect(await pulseOf(project)).toMatchObject({ pulse: { memoriesMs: undefined } });
  await store.conn.command('hset', meta, 'memory', 251_000);
  expect(await pulseOf(project)).toMatchObject({ pulse: { memoriesMs: 0 } });
});
