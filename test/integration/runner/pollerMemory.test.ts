/**
 * What the program of a poll pod takes of memory at each provider, with the heap that a pod has: where an
 * account is large and much happens in it at once, and where an answer does not end. The bound leaves a
 * quarter of what the chart gives a pod.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isUnavailable } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { readPoll, type PollState } from '../../../store/polling/state.ts';
import { POD_MIB, startPollPods, type Place, type PollPods } from '../../support/runner/pollPods.ts';
import type { Account } from '../../support/conformance/provider.ts';
import { DRIVERS } from '../../support/conformance/register.ts';

const MOST_MIB = POD_MIB * 0.75;
const UID = 'uid-orders';
/** More than any provider gives. */
const PAGE = { pageSize: 1_000 };
const SMALL_EVENTS = 200;
/** A pod may come to the end of its time in the middle of a burst. */
const MOST_PODS = 5;

let pods: PollPods;
beforeAll(async () => void (pods = await startPollPods('memory', { appendfsync: 'no' })), 600_000);
afterAll(() => pods?.stop());

// With another login it is the same provider.
const providers = DRIVERS.filter(({ differsByLogin }) => !differsByLogin);

describe.each(providers)('$title', (driver) => {
  let provider: Awaited<ReturnType<typeof driver.start>>;
  let account: Account;
  let place: Place;

  beforeAll(async () => {
    provider = await driver.start();
    account = await provider.account(PAGE);
    place = await pods.createPlace();
    await pods.watch(place, { uid: UID, kind: driver.kind, ...account });
  }, 300_000);
  afterAll(async () => {
    await account?.close();
    await provider?.stop();
  });

  async function state(): Promise<PollState> {
    const found = await readPoll(pods.conn, place.project, UID);
    if (!found || isUnavailable(found)) throw new Error('the trigger cannot be read');
    return found;
  }
  const runs = async () => Number(await pods.conn.command('zcard', keysOf(place.project).runs(UID)));

  /** Pods, one after the other, until it is so; the most that one took. */
  async function poll(isOver: () => Promise<boolean>): Promise<number> {
    let most = 0;
    for (let count = 0; count < MOST_PODS; count += 1) {
      await pods.makeDue(place, UID);
      most = Math.max(most, (await pods.pod(place)).memoryMiB);
      if (await isOver()) return most;
    }
    throw new Error(`not over after ${MOST_PODS} pods: ${(await state()).failure?.message}`);
  }

  async function burst(): Promise<number> {
    if (account.large) return account.large.burst();
    for (let n = 0; n < SMALL_EVENTS; n += 1) await account.add(`event-${n}`);
    return SMALL_EVENTS;
  }

  test('a large account, in which much happens at once, and an answer without end take no more than a pod may', async () => {
    await account.large?.fill();
    const took = {
      first: await poll(async () => (await state()).polledAt !== undefined),
      burst: 0,
      endless: 0,
    };
    const events = await burst();
    took.burst = await poll(async () => (await runs()) === events);
    account.proxy.fail('endless');
    took.endless = await poll(async () => (await state()).failure !== undefined);
    expect(Object.entries(took).filter(([, memoryMiB]) => memoryMiB > MOST_MIB)).toEqual([]);
  }, 120_000);
});
