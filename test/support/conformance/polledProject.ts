/**
 * A project in which one trigger watches an account of a provider, as its poll pod sees it: the real run
 * store, the real poller, and a pod that can be killed at each of its steps. Every page that a poller brings
 * must keep the bounds.
 */
import { Registry } from 'prom-client';
import { expect } from 'vitest';
import { systemClock } from '../../../kube/clock.ts';
import type { NodeOutput } from '../../../api/value.ts';
import { StepError } from '../../../api/reasons.ts';
import type { Polled, Poller } from '../../../nodes/contract/poller.ts';
import { loadPoller, placeOf } from '../../../nodes/pollers.ts';
import { Secret } from '../../../nodes/contract/secret.ts';
import { healthOf } from '../../../operator/poll/health.ts';
import { createLabelBound } from '../../../operator/shared/metricLabels.ts';
import { createPollMetrics } from '../../../operator/poll/metrics.ts';
import { pollAccount, type PollDeps, type PollOutcome } from '../../../runner/poll/pollAccount.ts';
import { connectRunStore, isUnavailable } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { takePollCounts } from '../../../store/polling/counts.ts';
import { readPoll, type PollState } from '../../../store/polling/state.ts';
import { putTrigger } from '../../../store/polling/triggers.ts';
import { readRun } from '../../../runs/read.ts';
import { createCollectedLog, type CollectedLog } from '../logs/collectedLog.ts';
import { startRedisProxy } from '../runStore/redisProxy.ts';
import { newProject, type TestStore } from '../runStore/runStore.ts';
import { localEgress } from '../nodes/stepContext.ts';
import type { Account, Driver } from './provider.ts';

const UID = 'uid-orders';
/** So that a few events are pages. */
const PAGE_EVENTS = 2;
/** What a cursor may have, so that a status can hold it with what it is of. */
const CURSOR_BYTES = 3_072;

export type PolledProject = {
  log: CollectedLog;
  /** One poll of a pod, or several pages of it, whether it is due or not. */
  poll(changes?: Partial<PollDeps>): Promise<PollOutcome>;
  /**
   * A poll of a pod that is killed at its step with that number: a request to the provider or a call of the
   * run store. False where it had fewer.
   */
  pollKilledAt(step: number): Promise<boolean>;
  /** The names of the events that started runs, in the order in which the runs were accepted. */
  started(): Promise<string[]>;
  state(): Promise<PollState>;
  /**
   * What the operator shows to whoever collects metrics, by name and, where there is one, outcome or status;
   * what is zero is left out.
   */
  metrics(): Promise<Record<string, number>>;
  /**
   * The names of the events of each page that a poller brought, with the cursor that was to be kept for it.
   */
  pages: { names: string[]; cursor: string }[];
};

/** Opens a project of its own. */
export async function openPolledProject(
  { conn, redis }: TestStore,
  driver: Driver,
  account: Account,
): Promise<PolledProject> {
  const project = await newProject(conn);
  const fields = { credential: 'account', ...account.fields };
  const place = JSON.stringify(placeOf(driver.kind, fields));
  const names = { workflow: 'orders', workflowUid: UID, revision: 'orders-1' };
  await putTrigger(conn, project, { ...names, kind: driver.kind, fields, intervalSeconds: 0, place });
  const log = createCollectedLog();
  const pages: PolledProject['pages'] = [];
  const { poll: key, runs } = keysOf(project);

  const poller = async (kind: string): Promise<Poller<unknown>> => {
    const inner = await loadPoller(kind);
    return {
      poll: async (trigger, cursor, context, since) => {
        const bounded = { ...context, limit: PAGE_EVENTS };
        const page = await inner.poll(trigger, cursor, bounded, since);
        checkBounds(page, bounded.maxEventBytes);
        pages.push({
          names: page.events.map(({ output }) => driver.nameOf(output)),
          cursor: JSON.stringify({ place, cursor: page.cursor }),
        });
        return page;
      },
    };
  };
  const credential = async (name: string) => ({ name, spec: account.spec, secret: secretOf(account) });
  const deps: PollDeps = {
    conn,
    project,
    pod: 'pod-1',
    poller,
    access: async () => ({ egress: localEgress, credential }),
    leave: new AbortController().signal,
    log,
  };
  const registry = new Registry();
  const metrics = createPollMetrics([registry], systemClock, createLabelBound(10));
  const state = async (): Promise<PollState> => {
    const found = await readPoll(conn, project, UID);
    if (!found || isUnavailable(found)) throw new Error('the trigger cannot be read');
    return found;
  };
  const makeDue = () => conn.command('hdel', key(UID), 'at', 'notBefore');
  return {
    log,
    pages,
    poll: async (changes = {}) => {
      await makeDue();
      return pollAccount({ ...deps, ...changes }, UID);
    },
    pollKilledAt: async (step) => {
      await makeDue();
      const killed = new AbortController();
      let left = step;
      const lives = () => {
        left -= 1;
        if (left < 0) killed.abort();
        return left >= 0;
      };
      const proxy = await startRedisProxy(redis.port, ([name = '']) => !name.startsWith('eval') || lives());
      const own = connectRunStore({ url: proxy.url, name: 'killed' });
      await own.ready();
      account.proxy.watch(lives);
      await pollAccount({ ...deps, conn: own, leave: killed.signal }, UID);
      account.proxy.watch(undefined);
      await own.close();
      await proxy.stop();
      return killed.signal.aborted;
    },
    started: async () => {
      const found = (await conn.command('zrange', runs(UID), 0, -1)) as string[];
      const states = await Promise.all(found.map((name) => readRun(conn, project, name)));
      return states.map((state) => {
        if (!state || isUnavailable(state)) throw new Error('a run cannot be read');
        return driver.nameOf(JSON.parse(state.input) as NodeOutput);
      });
    },
    state,
    metrics: async () => {
      const { lateMs, ...known } = await state();
      const counts = await takePollCounts(conn, project, UID);
      if (isUnavailable(counts)) throw new Error('what was counted cannot be taken');
      const { status } = healthOf({ lateMs, ...known });
      metrics.seen(UID, { kind: driver.kind, status, lateMs, counts });
      return shownOf(registry, driver.kind);
    },
  };
}

const PREFIX = 'windlass_poll_';

async function shownOf(registry: Registry, kind: string): Promise<Record<string, number>> {
  const shown: Record<string, number> = {};
  for (const { name, values } of await registry.getMetricsAsJSON()) {
    if (!name.startsWith(PREFIX)) continue;
    for (const { value, labels } of values as { value: number; labels: Record<string, string> }[]) {
      // How long an account waits is shown by workflow, not by kind.
      if (!('kind' in labels)) continue;
      expect(labels).toHaveProperty('kind', kind);
      const { outcome, status } = labels;
      const parts = [name.slice(PREFIX.length), outcome ?? status].filter((part) => part !== undefined);
      if (value !== 0) shown[parts.join(' ')] = value;
    }
  }
  return shown;
}

function secretOf({ secrets }: Account) {
  return ({ name, key }: { name: string; key: string }) => {
    // The operator keeps the tokens of all accounts in a Secret of its own.
    const value = secrets[name.startsWith('windlass-') ? 'access_token' : key];
    if (value !== undefined) return new Secret(value);
    throw new StepError('CredentialMissing', `the Secret ${name} has no key ${key}`);
  };
}

function checkBounds({ events, cursor, baselineLost }: Polled, maxEventBytes: number): void {
  expect(events.length).toBeLessThanOrEqual(PAGE_EVENTS);
  expect(Buffer.byteLength(JSON.stringify(cursor))).toBeLessThanOrEqual(CURSOR_BYTES);
  if (baselineLost !== undefined) expect(events).toEqual([]);
  for (const { output } of events)
    expect(Buffer.byteLength(JSON.stringify(output))).toBeLessThanOrEqual(maxEventBytes);
}
