import { expect, test } from 'vitest';
import { emptyDigest, formatDigest, toggle } from '../../api/routes.ts';
import type { Clock } from '../../kube/clock.ts';
import { createGatewayView, FRESH_MS, SETTLING_MS, type Changed } from './view.ts';

type Pair = [uid: string, generation: number];

const digestOf = (...pairs: Pair[]): string => {
  const digest = emptyDigest();
  for (const [uid, generation] of pairs) toggle(digest, uid, generation);
  return formatDigest(digest);
};

function setUp() {
  let now = 0;
  const clock: Clock = { now: () => now, date: () => new Date(0), timer: () => () => undefined };
  const view = createGatewayView(clock);
  const changes: Changed[] = [];
  view.onChange((changed) => changes.push(changed));
  return {
    view,
    changes,
    pass: (ms: number) => {
      now += ms;
    },
    serve: (replica: string, pairs: Pair[], process = replica, waiting: string[] = []) =>
      view.setReport({ replica, process, digest: digestOf(...pairs), waiting: new Set(waiting) }),
    routing: (uid: string, generation: number, wasServed = false) =>
      view.routing({ uid, generation }, wasServed),
  };
}

const SERVED = { kind: 'Served', settling: false };

/** A uid in the same bucket as `a`, so that a change of one touches the digest of the other. */
const neighbour = (): string => {
  const plain = digestOf();
  const differs = (uid: string) => {
    const digest = digestOf([uid, 1]);
    return digest.split('').findIndex((letter, index) => letter !== plain[index]);
  };
  const bucket = Math.floor(differs('a') / 13);
  for (let number = 0; ; number += 1) {
    if (Math.floor(differs(`n${number}`) / 13) === bucket) return `n${number}`;
  }
};

test('without a ready replica there is no gateway, even if a Lease is fresh', () => {
  const { view, serve, routing } = setUp();
  view.setRoute({ uid: 'a', generation: 1 });
  serve('g1', [['a', 1]]);
  expect(routing('a', 1)).toEqual({ kind: 'NoGateway' });
});

test('a route is served when every ready replica says so, in whatever order it is learned', () => {
  const { view, serve, routing } = setUp();
  view.setReady(new Set(['g1', 'g2']));
  serve('g1', [['a', 1]]);
  view.setRoute({ uid: 'a', generation: 1 });
  expect(routing('a', 1)).toMatchObject({ kind: 'Lagging', replicas: ['g2'] });
  serve('g2', [['a', 1]]);
  expect(routing('a', 1)).toEqual(SERVED);
});

test('what was served is not, once the route has changed', () => {
  const { view, serve, routing } = setUp();
  view.setReady(new Set(['g1']));
  view.setRoute({ uid: 'a', generation: 1 });
  serve('g1', [['a', 1]]);
  expect(routing('a', 2)).toMatchObject({ kind: 'Lagging', replicas: ['g1'] });
  view.setRoute({ uid: 'a', generation: 2 });
  expect(routing('a', 2)).toMatchObject({ kind: 'Lagging', replicas: ['g1'] });
  serve('g1', [['a', 2]]);
  expect(routing('a', 2)).toEqual(SERVED);
});

test('another route on its way in the same bucket changes nothing for one that was served', () => {
  const { view, serve, routing } = setUp();
  const other = neighbour();
  view.setReady(new Set(['g1']));
  view.setRoute({ uid: 'a', generation: 1 });
  serve('g1', [['a', 1]]);
  view.setRoute({ uid: other, generation: 1 });
  expect(routing('a', 1)).toEqual(SERVED);
  expect(routing(other, 1)).toMatchObject({ kind: 'Lagging', replicas: ['g1'] });
});

test('a replica without a ready endpoint counts while its Lease is fresh', () => {
  const { view, serve, routing, pass } = setUp();
  view.setReady(new Set(['g1']));
  view.setRoute({ uid: 'a', generation: 1 });
  serve('g1', [['a', 1]]);
  serve('g2', []);
  expect(routing('a', 1)).toMatchObject({ kind: 'Lagging', replicas: ['g2'] });
  pass(FRESH_MS);
  expect(routing('a', 1)).toEqual(SERVED);
});

test('a replica with a ready endpoint and no Lease serves nothing that we know of', () => {
  const { view, routing } = setUp();
  view.setReady(new Set(['g1']));
  view.setRoute({ uid: 'a', generation: 1 });
  expect(routing('a', 1)).toMatchObject({ kind: 'Lagging', replicas: ['g1'] });
});

test('a replica that cannot renew its Lease still serves what it served, while its endpoint is ready', () => {
  const { view, serve, routing, pass } = setUp();
  view.setReady(new Set(['g1']));
  view.setRoute({ uid: 'a', generation: 1 });
  serve('g1', [['a', 1]]);
  pass(FRESH_MS * 10);
  expect(routing('a', 1)).toEqual(SERVED);
});

test('a restarted process has to say again what it serves', () => {
  const { view, serve, routing } = setUp();
  view.setReady(new Set(['g1']));
  view.setRoute({ uid: 'a', generation: 1 });
  serve('g1', [['a', 1]], 'first');
  serve('g1', [], 'second');
  expect(routing('a', 1)).toMatchObject({ kind: 'Lagging', replicas: ['g1'] });
});

test('what was served when the status was written has a few seconds, and not for ever', () => {
  const { view, routing, pass } = setUp();
  view.setReady(new Set(['g1']));
  view.setRoute({ uid: 'a', generation: 1 });
  expect(routing('a', 1, true)).toEqual({ kind: 'Served', settling: true });
  pass(SETTLING_MS);
  expect(routing('a', 1, true)).toMatchObject({ kind: 'Lagging', replicas: ['g1'] });
});

test('it tells which routes another replica serves now, and each of them once', () => {
  const { view, serve, changes } = setUp();
  view.setRoute({ uid: 'a', generation: 1 });
  view.setRoute({ uid: 'b', generation: 1 });
  serve('g1', [
    ['a', 1],
    ['b', 1],
  ]);
  serve('g1', [
    ['a', 1],
    ['b', 1],
  ]);
  expect(changes.map((changed) => changed === 'all' || changed.toSorted())).toEqual([['a', 'b']]);
});

test('it tells when replicas come or go', () => {
  const { view, serve, changes } = setUp();
  view.setReady(new Set(['g1']));
  view.setReady(new Set(['g1']));
  serve('g1', []);
  view.removeReport('g1');
  view.setReady(new Set());
  expect(changes).toEqual(['all', 'all', 'all']);
});

test('a route is not served where what verifies its callers is missing, and others are', () => {
  const { view, serve, routing, changes } = setUp();
  const other = neighbour();
  view.setReady(new Set(['g1']));
  view.setRoute({ uid: 'a', generation: 1 });
  view.setRoute({ uid: other, generation: 1 });
  const pairs: Pair[] = [
    ['a', 1],
    [other, 1],
  ];
  serve('g1', pairs, 'g1', ['a']);
  expect(routing('a', 1)).toMatchObject({ kind: 'Lagging', replicas: ['g1'] });
  expect(routing(other, 1)).toEqual(SERVED);
  changes.length = 0;
  serve('g1', pairs);
  expect(changes).toEqual([['a']]);
  expect(routing('a', 1)).toEqual(SERVED);
});

test('a route that was deleted and made again has to be acknowledged again', () => {
  const { view, serve, routing } = setUp();
  view.setReady(new Set(['g1']));
  view.setRoute({ uid: 'a', generation: 1 });
  serve('g1', [['a', 1]]);
  view.removeRoute('a');
  expect(routing('a', 1)).toMatchObject({ kind: 'Lagging', replicas: ['g1'] });
  view.setRoute({ uid: 'a', generation: 1 });
  expect(routing('a', 1)).toEqual(SERVED);
});

test('a route that lags says for how long, and begins again when it was served', () => {
  const { view, serve, routing, pass } = setUp();
  view.setReady(new Set(['g1']));
  view.setRoute({ uid: 'a', generation: 1 });
  expect(routing('a', 1)).toMatchObject({ kind: 'Lagging', ms: 0 });
  pass(400);
  expect(routing('a', 1)).toMatchObject({ kind: 'Lagging', ms: 400 });
  serve('g1', [['a', 1]]);
  expect(routing('a', 1)).toEqual(SERVED);
  view.setRoute({ uid: 'a', generation: 2 });
  expect(routing('a', 2)).toMatchObject({ kind: 'Lagging', ms: 0 });
});
