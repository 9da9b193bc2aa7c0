import { expect, test } from 'vitest';
import { createCollectedLog } from '../test/support/logs/collectedLog.ts';
import { createManualClock, settled } from '../test/support/time/manualClock.ts';
import { DeletedError } from './deleted.ts';
import { ApiError } from './errors.ts';
import {
  StalledError,
  WaitingError,
  after,
  done,
  enqueueOwner,
  parseKey,
  runController,
  type Action,
  type Outcome,
} from './controller.ts';
import { createQueue } from './queue.ts';

/** Runs a controller on the key shop/a whose reconcile answers, one after the other, as given. */
async function reconcileWith(...answers: (Action | Error)[]) {
  const clock = createManualClock();
  const queue = createQueue({
    clock,
    random: () => 0.5,
    backoff: { initialMs: 100, factor: 2, maxMs: 1_000, jitter: 0.2 },
  });
  const log = createCollectedLog();
  const runs: number[] = [];
  const outcomes: Outcome[] = [];
  const stop = new AbortController();
  const reconcile = async (): Promise<Action> => {
    runs.push(clock.now());
    const answer = answers.shift() ?? done();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const onOutcome = (outcome: Outcome): void => {
    outcomes.push(outcome);
  };
  const ended = runController({ name: 'test', queue, reconcile, log, onOutcome, signal: stop.signal });
  queue.add('shop/a');
  await settled();
  await clock.advance(10_000);
  stop.abort();
  await ended;
  return { runs, outcomes, log };
}

test('done rests until something changes', async () => {
  expect((await reconcileWith(done())).runs).toEqual([0]);
});

test('after comes back at that time', async () => {
  const { runs, outcomes } = await reconcileWith(after(3_000), done());
  expect({ runs, outcomes }).toEqual({ runs: [0, 3_000], outcomes: ['after', 'done'] });
});

test('a stalled key is not tried again, and is no warning', async () => {
  const { runs, outcomes, log } = await reconcileWith(new StalledError('name a Secret'));
  expect({ runs, outcomes }).toEqual({ runs: [0], outcomes: ['stalled'] });
  expect(log.messages('warn')).toEqual([]);
});

test('the reason of a stalled key is logged once, and again if it changes or the key recovered meanwhile', async () => {
  const clock = createManualClock();
  const queue = createQueue({ clock });
  const log = createCollectedLog();
  const stop = new AbortController();
  const answers = ['no Secret', 'no Secret', 'no host', undefined, 'no host'];
  const reconcile = async (): Promise<Action> => {
    const reason = answers.shift();
    if (reason === undefined) return done();
    throw new StalledError(reason);
  };
  const ended = runController({ name: 'test', queue, reconcile, log, signal: stop.signal });
  while (answers.length > 0) {
    queue.add('shop/a');
    await settled();
  }
  stop.abort();
  await ended;
  expect(log.entries.map(({ fields }) => fields)).toMatchObject(
    ['no Secret', 'no host', 'no host'].map((reason) => ({ reason, key: 'shop/a' })),
  );
});

test('a waiting key comes back after its time, each time the same', async () => {
  const waiting = new WaitingError('no Secret yet', 2_000);
  const { runs, outcomes } = await reconcileWith(waiting, waiting, done());
  expect({ runs, outcomes }).toEqual({ runs: [0, 2_000, 4_000], outcomes: ['waiting', 'waiting', 'done'] });
});

test('a failure backs off, the loop continues, and success resets the back-off', async () => {
  const { runs, outcomes } = await reconcileWith(
    new Error('one'),
    new Error('two'),
    after(5_000),
    new Error('three'),
    done(),
  );
  expect(runs).toEqual([0, 100, 300, 5_300, 5_400]);
  expect(outcomes).toEqual(['failed', 'failed', 'after', 'failed', 'done']);
});

test('a conflict is tried again without a warning: another writer is no failure', async () => {
  const conflict = new ApiError({ status: 409, reason: 'Conflict', message: 'modified' });
  const { runs, outcomes, log } = await reconcileWith(conflict, done());
  expect({ runs, outcomes }).toEqual({ runs: [0, 100], outcomes: ['conflict', 'done'] });
  expect(log.messages('warn')).toEqual([]);
});

test('an object that was deleted meanwhile is read again without a warning; another missing one is a failure', async () => {
  const deleted = new DeletedError('workflows.windlass.dev "a" was deleted meanwhile');
  const missing = new ApiError({ status: 404, reason: 'NotFound', message: 'secrets "b" not found' });
  const { runs, outcomes, log } = await reconcileWith(deleted, missing, done());
  expect({ runs, outcomes }).toEqual({ runs: [0, 100, 300], outcomes: ['conflict', 'failed', 'done'] });
  expect(log.messages('warn')).toEqual(['reconcile failed']);
});

test('the signal ends the loop only when the running reconcile has ended', async () => {
  const stop = new AbortController();
  const running = Promise.withResolvers<Action>();
  const queue = createQueue();
  let ended = false;
  const run = async (): Promise<void> => {
    const reconcile = (): Promise<Action> => running.promise;
    await runController({ name: 'test', queue, reconcile, log: createCollectedLog(), signal: stop.signal });
    ended = true;
  };
  const loop = run();
  queue.add('a');
  stop.abort();
  await settled();
  expect(ended).toBe(false);
  running.resolve(done());
  await loop;
  expect(ended).toBe(true);
});

test('only the controlling owner of the kind is enqueued', () => {
  const owner = (kind: string, name: string, controller: boolean) => ({
    apiVersion: 'v1',
    kind,
    name,
    uid: name,
    controller,
  });
  const child = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'c',
      namespace: 'shop',
      ownerReferences: [owner('Workflow', 'no', false), owner('Workflow', 'a', true)],
    },
  };
  expect(enqueueOwner('Workflow')(child)).toEqual([{ namespace: 'shop', name: 'a' }]);
  expect(enqueueOwner('Credential')(child)).toEqual([]);
});

test('keys of namespaced and of cluster-wide objects are distinguished', () => {
  expect(parseKey('shop/a')).toEqual({ namespace: 'shop', name: 'a' });
  expect(parseKey('a')).toEqual({ namespace: '', name: 'a' });
});
