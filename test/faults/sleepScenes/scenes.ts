/** Scenes of a project that sleeps and wakes: what happens to its events, and what fails meanwhile. Pure. */
import { fault, type StormFault } from '../storm/scenes.ts';

export type SleepScene = {
  name: string;
  /**
   * When faults and events begin: while the runners sleep, at the moment at which the Deployment asks for
   * none, or shortly before a wait is due.
   */
  at: 'asleep' | 'falling' | 'due';
  /** Seconds from then until events come; left out: none do. */
  eventsAfter?: number;
  /** Seconds from then until the callbacks of runs that have waited since before the sleep are called. */
  callsAfter?: number;
  faults: readonly StormFault[];
};

const OTHER = 0.9;
const everyOperator = (after: number) => [
  fault('kill-operator', after),
  fault('kill-operator', after, 0, OTHER),
];

/** An operator that leads and is killed is succeeded after 15 s. */
export const SLEEP_SCENES: readonly SleepScene[] = [
  { name: 'nothing fails', at: 'asleep', eventsAfter: 0, faults: [] },
  { name: 'events come as runners fall asleep', at: 'falling', eventsAfter: 0, faults: [] },
  {
    name: 'events come as runners fall asleep, and the operators die',
    at: 'falling',
    eventsAfter: 0,
    faults: everyOperator(0.05),
  },
  {
    name: 'all operators die, and events come before one leads again',
    at: 'asleep',
    eventsAfter: 0.5,
    faults: everyOperator(0),
  },
  {
    name: 'Redis dies as the message goes out that wakes the runners, and the operators as Redis is back',
    at: 'asleep',
    eventsAfter: 0,
    faults: [fault('kill-redis', 0.2, 3), ...everyOperator(3.5)],
  },
  {
    name: 'a gateway dies as it accepts, Redis restarts, and the operators die as they wake the runners',
    at: 'asleep',
    eventsAfter: 0,
    faults: [fault('kill-gateway', 0.05), fault('kill-redis', 0.5, 1), ...everyOperator(2)],
  },
  {
    name: 'the API server is away as events come',
    at: 'asleep',
    eventsAfter: 1,
    faults: [fault('kill-kube-apiserver', 0, 10)],
  },
  {
    name: 'an operator is frozen as events come, then the other one',
    at: 'asleep',
    eventsAfter: 1,
    faults: [fault('freeze-operator', 0, 25), fault('freeze-operator', 26, 20, OTHER)],
  },
  {
    name: 'operators send to Redis and hear nothing of it as events come',
    at: 'asleep',
    eventsAfter: 1,
    faults: [fault('deaf-operator-redis', 0, 10)],
  },
  {
    name: 'runners die as they wake, and Redis restarts',
    at: 'asleep',
    eventsAfter: 0,
    faults: [fault('kill-runner', 0), fault('kill-redis', 4, 1), fault('kill-runner', 6)],
  },
  {
    name: 'the run store loses its data while runs wait for callbacks, and the operators die',
    at: 'asleep',
    callsAfter: 4,
    faults: [fault('lose-store', 0), ...everyOperator(0.5)],
  },
  {
    name: 'operators and Redis die as waits become due',
    at: 'due',
    faults: [...everyOperator(0), fault('kill-redis', 1, 2)],
  },
];
