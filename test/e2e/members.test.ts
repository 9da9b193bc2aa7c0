/**
 * From one server of the run store to the three replicated members of the chart, by the commands of
 * docs/operations.md; failovers on the cluster; and the way back.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { upgradeWindlass, waitForReady, windlassNamespace } from '../support/installation/install.ts';
import { getJson } from '../support/cluster/kubectl.ts';
import { pollUntil } from '../support/time/poll.ts';
import {
  apply,
  cluster,
  createProject,
  kube,
  postWebhook,
  removeProject,
  runInPhase,
  workflowOf,
} from './environment.ts';

const WORKFLOW = 'members';
const MEMBERS = [0, 1, 2].map((index) => `windlass-redis-${index}`);
const SOON = { timeoutMs: 120_000, everyMs: 250 };

let project: string;
/** The runs of all events that were answered with 200. */
const acceptedRuns: string[] = [];

beforeAll(async () => {
  project = await createProject();
  const nodes = [
    { id: 'trigger', webhook: { path: 'in' } },
    { id: 'set', skill: { name: 'set', parameters: { values: { sum: '1 + 1' } } } },
  ];
  await apply(project, workflowOf(WORKFLOW, nodes, { history: { succeeded: 1_000, failed: 1_000 } }));
  await waitForReady(cluster, WORKFLOW, project);
});
afterAll(() => removeProject(project));

const inSystem = (...args: string[]) => kube(['-n', windlassNamespace, ...args], { timeoutMs: 300_000 });
const rolledOut = () => inSystem('rollout', 'status', 'statefulset/windlass-redis', '--timeout=240s');

/** Sends an event, and remembers its run if it is accepted. */
async function sendEvent(): Promise<boolean> {
  const { status, text } = await postWebhook(project, WORKFLOW, 'in', { at: Date.now() });
  if (status !== 200) return false;
  acceptedRuns.push((JSON.parse(text) as { run: string }).run);
  return true;
}

const accepting = () => pollUntil('an event being accepted', sendEvent, SOON);

/** Sends ten events, and waits until the run of each event that was ever accepted has succeeded. */
async function nothingLost(): Promise<void> {
  for (let sent = 0; sent < 10; sent += 1) await accepting();
  await Promise.all(acceptedRuns.map((run) => runInPhase(project, run, 'Succeeded')));
}

const inMember = (pod: string, ...command: string[]) =>
  inSystem('exec', pod, '-c', 'sentinel', '--', ...command);

/** The pod that the sentinel of a member names as the primary. */
async function primaryOf(pod: string): Promise<string> {
  const ask = ['sentinel', 'get-master-addr-by-name', 'windlass'];
  const named = await inMember(pod, 'redis-cli', '-p', '26379', ...ask);
  return named.split(/[.\s]/)[0] ?? '';
}

const uidOf = async (pod: string) =>
  (await getJson<{ metadata: { uid: string } }>(cluster, 'pod', pod, '-n', windlassNamespace)).metadata.uid;

test('one server becomes the first of three members, which have its events', async () => {
  await nothingLost();
  await upgradeWindlass(cluster, { redis: { topology: 'sentinel' } }, { wait: false });
  const running = ['wait', '--for=jsonpath={.status.phase}=Running', '--timeout=120s'];
  await pollUntil('pods of the other members', async () => (await uidOf('windlass-redis-2')) !== '', SOON);
  await inSystem(...running, 'pod/windlass-redis-1', 'pod/windlass-redis-2');
  await inSystem('delete', 'pod', 'windlass-redis-0');
  await rolledOut();
  await accepting();
  expect(await primaryOf('windlass-redis-1')).toBe('windlass-redis-0');
  await nothingLost();
}, 400_000);

test('the pod of the primary is deleted: another member takes over, and nothing that was accepted is lost', async () => {
  for (let sent = 0; sent < 20; sent += 1) await accepting();
  const former = await primaryOf('windlass-redis-1');
  const others = MEMBERS.filter((pod) => pod !== former);
  await inSystem('delete', 'pod', former, '--wait=false', '--grace-period=0', '--force');
  const isPromoted = async () => others.includes(await primaryOf(others[0] ?? ''));
  await pollUntil('a promoted member', isPromoted, SOON);
  await accepting();
  await rolledOut();
  await nothingLost();
  expect(await primaryOf(others[0] ?? '')).not.toBe('');
}, 400_000);

test('all members restart together: events are accepted again, and nothing is lost', async () => {
  const before = await Promise.all(MEMBERS.map(uidOf));
  await inSystem('delete', 'pod', ...MEMBERS);
  await rolledOut();
  expect(await Promise.all(MEMBERS.map(uidOf))).not.toEqual(before);
  await nothingLost();
}, 400_000);

test('back to one server: the first member continues alone', async () => {
  await upgradeWindlass(cluster, { redis: { topology: 'single' } });
  await inSystem('delete', 'pvc', 'data-windlass-redis-1', 'data-windlass-redis-2');
  await nothingLost();
  expect(acceptedRuns.length).toBeGreaterThan(60);
}, 400_000);
