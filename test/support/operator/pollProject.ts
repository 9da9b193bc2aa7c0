/**
 * A project with a mail account and workflows that start by its mail. The polls are made here, at no mail
 * server.
 */
import { stringify } from 'yaml';
import type { Credential, Workflow } from '../../../api/kinds.ts';
import { cronJobs, secrets } from '../../../kube/resource.ts';
import type { Polled, Poller } from '../../../nodes/contract/poller.ts';
import { credentials, workflows } from '../../../operator/shared/resources.ts';
import { pollAccount } from '../../../runner/poll/pollAccount.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { readPoll, type PollState } from '../../../store/polling/state.ts';
import type { PolledTrigger } from '../../../store/polling/triggers.ts';
import { createCollectedLog } from '../logs/collectedLog.ts';
import type { OperatorHarness } from './operatorHarness.ts';
import { localEgress } from '../nodes/stepContext.ts';

type ExpectedCondition = Parameters<OperatorHarness['waitFor']>[2];
type Start = { cursor: unknown; since?: Date };

export type PollProject = {
  namespace: string;
  uid: string;
  /**
   * Applies a workflow, `orders` unless it is named, that starts by the mail of the account `inbox` unless it
   * has another trigger.
   */
  apply: (more?: {
    name?: string;
    active?: boolean;
    trigger?: object;
    steps?: object[];
    reset?: string;
  }) => Promise<string>;
  /** Waits until a condition of `orders` is as said; returns the workflow. */
  waitFor: (expected: ExpectedCondition) => Promise<Workflow>;
  workflow: () => Promise<Workflow>;
  /** Makes the Secret of the account. */
  createSecret: () => Promise<unknown>;
  /** The names of the CronJobs. */
  jobs: () => Promise<string[]>;
  /** A poll of `orders`, which brings this. From where it went on; undefined where nobody is to poll. */
  poll: (brings?: Partial<Polled> | Error) => Promise<Start | undefined>;
  /** What is to be polled. */
  triggerIn: () => Promise<PolledTrigger | undefined>;
  /** What the run store knows of a trigger, `orders` unless the uid is given. */
  state: (uid?: string) => Promise<PollState | undefined>;
};

/** Makes a project of its own, so that tests can go on at the same time. */
export async function openPollProject(
  harness: OperatorHarness,
  { hasSecret = true } = {},
): Promise<PollProject> {
  const { client, conn } = harness;
  const { namespace, uid: project } = await harness.createProject();
  const createSecret = () =>
    client.create(secrets, { metadata: { name: 'accounts', namespace }, data: { password: btoa('x') } });
  const workflow = () => client.get(workflows, { namespace, name: 'orders' });
  const uidOf = async () => (await workflow()).metadata.uid ?? '';
  const stateOf = async (uid: string) => {
    const state = await readPoll(conn, project, uid);
    if (isUnavailable(state)) throw new Error('the run store is away');
    return state;
  };
  if (hasSecret) await createSecret();
  const passwordRef = { name: 'accounts', key: 'password' };
  const spec: Credential['spec'] = { imap: { host: 'mail.example.com', username: 'shop', passwordRef } };
  await client.create(credentials, { metadata: { name: 'inbox', namespace }, spec });
  return {
    namespace,
    uid: project,
    apply: ({ name = 'orders', active = true, trigger, steps = [], reset } = {}) => {
      const annotations = reset === undefined ? {} : { 'windlass.dev/reset-cursor': reset };
      const first = { id: 'trigger', ...(trigger ?? { mail: { credential: 'inbox' } }) };
      const object = {
        apiVersion: 'windlass.dev/v1alpha1',
        kind: 'Workflow',
        metadata: { name, annotations },
        spec: { active, nodes: [first, ...steps] },
      };
      return harness.apply(namespace, stringify(object));
    },
    waitFor: (expected) => harness.waitFor(namespace, 'orders', expected),
    workflow,
    createSecret,
    jobs: async () => (await client.list(cronJobs, { namespace })).items.map(({ metadata }) => metadata.name),
    poll: async (brings = {}) => {
      const uid = await uidOf();
      await conn.command('hdel', keysOf(project).poll(uid), 'at', 'notBefore');
      let seen: Start | undefined;
      const poller: Poller<unknown> = {
        poll: async (_trigger, cursor, _context, since) => {
          seen = { cursor, ...(since && { since }) };
          if (brings instanceof Error) throw brings;
          return { events: [], cursor: { uid: 7 }, more: false, ...brings };
        },
      };
      const credential = async () => {
        throw new Error('no poller asks for it');
      };
      const { signal: leave } = new AbortController();
      const access = async () => ({ egress: localEgress, credential });
      const log = createCollectedLog();
      const deps = { conn, project, pod: 'pod-1', poller: async () => poller, access, leave, log };
      // As a pod does, which polls again at once where the operator changed the trigger meanwhile.
      for (let isDue = true; isDue; ) {
        await pollAccount(deps, uid);
        const state = await stateOf(uid);
        isDue = state !== undefined && state.dueAt <= state.now;
      }
      return seen;
    },
    triggerIn: async () => {
      const text = await conn.command('hget', keysOf(project).poll(await uidOf()), 'config');
      return typeof text === 'string' ? (JSON.parse(text) as PolledTrigger) : undefined;
    },
    state: async (uid) => stateOf(uid ?? (await uidOf())),
  };
}
