/**
 * The conformance suite: every provider of every polled trigger, tested for the same promises, at its real
 * server or at one that speaks its documented wire format. docs/extending.md says how a provider comes in.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { REASON } from '../../../api/conditions.ts';
import { POLLED_KINDS, pollsWith } from '../../../nodes/pollers.ts';
import { scopesOf } from '../../../nodes/scopes.ts';
import { healthOf } from '../../../operator/poll/health.ts';
import type { PollOutcome } from '../../../runner/poll/pollAccount.ts';
import { openPolledProject, type PolledProject } from '../../support/conformance/polledProject.ts';
import {
  FAULTS,
  RETRY_AFTER,
  type Account,
  type Fault,
  type Shown,
} from '../../support/conformance/provider.ts';
import { DRIVERS } from '../../support/conformance/register.ts';
import { startRunStore, type TestStore } from '../../support/runStore/runStore.ts';

/** By when a poll that is to fail must have its answer. */
const SILENT_MS = 250;
/** Some of these tests make a hundred polls and more. */
const LONG = { timeout: 300_000 };
/** What a poll may take of an answer that does not end. */
const TAKEN_BYTES = 32 * 2 ** 20;

let store: TestStore;
beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());

test('every provider that is registered has a driver here', () => {
  const known = DRIVERS.map(({ kind, credential, preset }) => nameOf(kind, credential, preset));
  expect(known.toSorted()).toEqual(POLLED_KINDS.flatMap(registered).toSorted());
});

/**
 * What a trigger of that kind can poll: of connected accounts, those whose rights are known. By IMAP all are
 * polled alike.
 */
function registered(kind: string): string[] {
  const { googleImap: _alike, ...scopes } = scopesOf({ id: 'trigger', [kind]: {} }) ?? {};
  const presets = Object.keys(scopes);
  return pollsWith(kind).flatMap((credential) =>
    credential === 'oauth2'
      ? presets.map((preset) => nameOf(kind, credential, preset))
      : nameOf(kind, credential),
  );
}

const nameOf = (...parts: (string | undefined)[]) => parts.filter((part) => part !== undefined).join('/');

describe.each(DRIVERS)('$title', (driver) => {
  let provider: Awaited<ReturnType<typeof driver.start>>;
  let account: Account;
  let project: PolledProject;
  let added: string[];
  const isWhole = !driver.differsByLogin;

  beforeAll(async () => void (provider = await driver.start()), 300_000);
  afterAll(() => provider?.stop());
  beforeEach(async () => {
    account = await provider.account();
    project = await openPolledProject(store, driver, account);
    added = [];
    await account.add('event-0000');
    await project.poll();
  });
  afterEach(() => account.close());

  /** So many events happen, one after the other. */
  async function happen(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      const name = `event-${String(added.length + 1).padStart(4, '0')}`;
      await account.add(name);
      added.push(name);
    }
  }

  const health = async () => healthOf(await project.state());

  test('the first poll starts no run, each later event starts one run, and the status reports success', async () => {
    expect(await project.started()).toEqual([]);
    expect(await health()).toMatchObject({ status: 'True', reason: 'Polled' });
    await happen(3);
    await project.poll();
    expect(await project.started()).toEqual(added);
    await happen(1);
    await Promise.all(['pod-1', 'pod-2', 'pod-3'].map((pod) => project.poll({ pod })));
    await project.poll();
    expect(await project.started()).toEqual(added);
    expect(await health()).toMatchObject({ status: 'True', reason: 'Polled' });
    const { cursor = '' } = await project.state();
    expect(cursor).toBe(project.pages.at(-1)?.cursor);
    const counted = project.log.entries
      .filter(({ message }) => message === 'events submitted')
      .map(({ fields }) => (fields as { events: number }).events);
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(added.length);
    const shown = await project.metrics();
    expect(shown).toMatchObject({ 'triggers True': 1, events_total: added.length });
    expect(shown['looks_total Polled']).toBeGreaterThanOrEqual(4);
    expect(Object.keys(shown).filter((name) => name.startsWith('looks_total'))).toHaveLength(1);
  });

  test.each(driver.kind === 'fileStorage' ? ['changes'] : [])(
    'a file that %s is one more event, each time',
    async () => {
      await happen(2);
      await project.poll();
      for (const name of ['event-0001', 'event-0001', 'event-0002']) {
        if (!account.change) throw new Error('the driver does not say how a file is changed');
        await account.change(name);
        added.push(name);
        await project.poll();
        expect(await project.started()).toEqual(added);
      }
    },
  );

  test('many events come by pages, oldest first', async () => {
    await happen(11);
    await project.poll();
    expect(await project.started()).toEqual(added);
    expect(project.pages.filter(({ names }) => names.length > 0).length).toBeGreaterThanOrEqual(5);
  });

  test.each(isWhole ? ['killed'] : [])(
    '%s at each of its steps, a poll loses nothing, starts nothing twice, and moves its cursor after its events alone',
    LONG,
    async () => {
      let step = 0;
      for (; ; step += 1) {
        await happen(3);
        project.pages.length = 0;
        const isKilled = await project.pollKilledAt(step);
        const [started, { cursor }] = [await project.started(), await project.state()];
        const last = project.pages.findLastIndex((page) => page.cursor === cursor);
        const before = project.pages.slice(0, last + 1).flatMap(({ names }) => names);
        expect(started).toEqual(expect.arrayContaining(before));
        await project.poll();
        expect(await project.started()).toEqual(added);
        if (!isKilled) break;
      }
      // To claim, to ask, to start three runs and to move the cursor for each of two pages.
      expect(step).toBeGreaterThanOrEqual(8);
      // Whoever saw an event, it counts once.
      expect(await project.metrics()).toMatchObject({ events_total: added.length });
    },
  );

  async function expectShown({ reasons }: Shown, polled: PollOutcome, fault: Fault): Promise<void> {
    const { failure } = await project.state();
    expect(reasons).toContain(failure?.reason);
    expect(REASON).toHaveProperty(failure?.reason ?? '');
    expect(failure?.message).toMatch(/^[^\n]{10,600}$/);
    expect(await health()).toMatchObject({ status: 'False', reason: failure?.reason });
    expect(project.log.entries.at(-1)).toMatchObject({
      message: 'poll failed',
      fields: { reason: failure?.reason },
    });
    const seconds = fault === 'tooManyRequests' && driver.saysWhen ? RETRY_AFTER : 0;
    expect(polled.outcome === 'again' && polled.ms).toBeGreaterThanOrEqual(seconds * 1_000);
  }

  /** The failure that is shown now is counted with those before it, by reason. */
  async function expectCounted(counted: Record<string, number>): Promise<void> {
    const { failure } = await project.state();
    const outcome = `looks_total ${failure?.reason}`;
    counted[outcome] = (counted[outcome] ?? 0) + 1;
    expect(await project.metrics()).toMatchObject({ ...counted, 'triggers False': 1 });
  }

  const known = FAULTS.filter(
    (fault) => driver.faults[fault] !== null && (isWhole || fault === 'unauthorized'),
  );

  test.each(known)(
    '%s, at whichever request: shown with its reason, healed by itself, nothing lost',
    LONG,
    async (fault) => {
      const shown = driver.faults[fault];
      if (!shown) throw new Error('the protocol knows no such failure');
      const { firstRequestOnly = false } = shown;
      account.proxy.fail(undefined);
      await happen(2);
      await project.poll();
      const requests = firstRequestOnly ? 1 : account.proxy.requests();
      const counted: Record<string, number> = {};
      for (let first = 0; first < requests; first += 1) {
        await happen(2);
        account.proxy.fail(fault, first);
        const polled = await project.poll(fault === 'silence' ? { pageMs: SILENT_MS } : {});
        if (account.proxy.failed() > 0) {
          await expectShown(shown, polled, fault);
          await expectCounted(counted);
        }
        expect(added).toEqual(expect.arrayContaining(await project.started()));
        account.proxy.fail(undefined);
        await project.poll();
        expect(await project.started()).toEqual(added);
        expect(await health()).toMatchObject({ status: 'True', reason: 'Polled' });
      }
      const failures = Object.values(counted).reduce((sum, count) => sum + count, 0);
      expect(failures).toBeGreaterThan(0);
      expect(account.proxy.takenBytes()).toBeLessThanOrEqual(failures * TAKEN_BYTES);
    },
  );
});
