/**
 * The faults of a storm: scenes of two or three at once. First chosen ones in chosen orders, then others by a
 * seed. Pure.
 */
import { randomNumbers } from '../plan.ts';

const OWN = ['gateway', 'operator', 'runner'] as const;
type Own = (typeof OWN)[number];
type Clocked = Own | 'redis';

/**
 * - `kill-X`: SIGKILL. Programs of Windlass are started again after a second, the others after `seconds`.
 * - `freeze-X`: SIGSTOP for `seconds`.
 * - `cut-X-Y`: silence between a program and the run store or the API server; what was sent arrives when it
 * is over.
 * - `deaf-X-Y`: requests arrive and are executed, and the answers do not come.
 * - `refuse-X-Y`: connections are reset and refused.
 * - `late-X-Y`: everything arrives up to half a second late, on each connection at its own pace.
 * - `lose-store`: the run store loses all of its data.
 * - `slow-fsync`: each fsync of the run store takes 80 ms more.
 * - `clock-ahead-X`, `clock-back-X`: the wall clock is half a minute off, and then right again.
 */
export type StormKind =
  | `kill-${Own | 'redis' | 'kube-apiserver' | 'etcd'}`
  | `freeze-${Own | 'redis' | 'kube-apiserver' | 'etcd'}`
  | `${'cut' | 'deaf' | 'refuse' | 'late'}-${Own}-${'redis' | 'apiserver'}`
  | 'lose-store'
  | 'slow-fsync'
  | `clock-${'ahead' | 'back'}-${Clocked}`;

/** `after`: seconds from the beginning of its scene. `pick` chooses among replicas. */
export type StormFault = { kind: StormKind; after: number; seconds: number; pick: number };

export type Scene = { name: string; faults: readonly StormFault[] };

export const fault = (kind: StormKind, after: number, seconds = 0, pick = 0): StormFault => ({
  kind,
  after,
  seconds,
  pick,
});
const each = (trouble: 'deaf' | 'refuse' | 'late', server: 'redis' | 'apiserver') =>
  OWN.map((own) => `${trouble}-${own}-${server}` as const);

/** In this order. A frozen runner is taken for dead after 20 s. */
export const CHOSEN: readonly Scene[] = [
  {
    name: 'a runner is frozen while Redis restarts',
    faults: [fault('freeze-runner', 0, 25), fault('kill-redis', 3, 3), fault('kill-redis', 21, 1)],
  },
  {
    name: 'the API server executes and does not answer, then refuses',
    faults: [
      ...each('deaf', 'apiserver').map((kind) => fault(kind, 0, 5)),
      ...each('refuse', 'apiserver').map((kind) => fault(kind, 5, 6)),
    ],
  },
  {
    name: 'the API server executes and does not answer, refuses, and the store is lost',
    faults: [
      ...each('deaf', 'apiserver').map((kind) => fault(kind, 0, 4)),
      ...each('refuse', 'apiserver').map((kind) => fault(kind, 4, 8)),
      fault('lose-store', 9, 0),
    ],
  },
  {
    name: 'the store is lost while the API server is away',
    faults: [fault('kill-kube-apiserver', 0, 8), fault('lose-store', 4, 0), fault('kill-runner', 5, 0)],
  },
  {
    name: 'answers of Redis are late, and a gateway and a runner die',
    faults: [
      ...each('late', 'redis').map((kind) => fault(kind, 0, 8)),
      fault('kill-gateway', 2, 0),
      fault('kill-runner', 4, 0),
    ],
  },
  {
    name: 'fsync is slow, a runner dies, and Redis is killed',
    faults: [fault('slow-fsync', 0, 8), fault('kill-runner', 2, 0), fault('kill-redis', 6, 2)],
  },
  {
    name: 'a runner hears nothing of Redis while the leading operator dies',
    faults: [
      fault('deaf-runner-redis', 0, 6),
      fault('kill-operator', 1, 0, 0),
      fault('kill-operator', 2, 0, 0.9),
    ],
  },
  {
    name: 'the clock of Redis is ahead, then right again, while a runner dies',
    faults: [fault('clock-ahead-redis', 0, 8), fault('kill-runner', 3, 0)],
  },
  {
    name: 'the clock of Redis goes back while Redis restarts',
    faults: [fault('clock-back-redis', 0, 8), fault('kill-redis', 3, 1)],
  },
];

const KILLED = [...OWN, 'redis', 'kube-apiserver', 'etcd'] as const;

/**
 * Kinds for scenes by a seed. A loss is in the chosen scenes alone: after it nothing could be said of what
 * came before.
 */
export const KINDS: readonly StormKind[] = [
  ...KILLED.flatMap((name): StormKind[] => [`kill-${name}`, `freeze-${name}`]),
  ...(['cut', 'deaf', 'refuse', 'late'] as const).flatMap((trouble) =>
    OWN.flatMap((own): StormKind[] => [`${trouble}-${own}-redis`, `${trouble}-${own}-apiserver`]),
  ),
  'slow-fsync',
  ...([...OWN, 'redis'] as const).flatMap((name): StormKind[] => [
    `clock-ahead-${name}`,
    `clock-back-${name}`,
  ]),
];

/** Faults that need the library which is built by a C compiler. */
export const needsShim = ({ kind }: StormFault): boolean =>
  kind === 'slow-fsync' || kind.startsWith('clock-');

/**
 * Scenes without end, the same for the same seed: two or three faults, each beginning up to 5 s after the one
 * before.
 */
export function* scenesOf(seed: number): Generator<Scene> {
  const random = randomNumbers(seed);
  for (;;) {
    const count = random() < 0.5 ? 2 : 3;
    const faults: StormFault[] = [];
    let after = 0;
    while (faults.length < count) {
      const kind = KINDS[Math.floor(random() * KINDS.length)];
      const next = { seconds: Math.round(2 + random() * 8), pick: random(), after };
      if (kind === undefined || faults.some((one) => one.kind === kind)) continue;
      faults.push({ kind, ...next });
      after += Math.round(random() * 5);
    }
    yield { name: faults.map(({ kind }) => kind).join(', '), faults };
  }
}
