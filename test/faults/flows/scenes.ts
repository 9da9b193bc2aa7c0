/** Scenes of the flows: faults one after the other, each before the system has recovered from the last. */
import { fault, type StormFault } from '../storm/scenes.ts';

export type FlowScene = {
  name: string;
  /** Whether small flows begin each second meanwhile, or once at its beginning. */
  starts: 'often' | 'once' | 'never';
  faults: readonly StormFault[];
};

const OTHER = 0.9;
const everyRunner = (after: number) => [fault('kill-runner', after), fault('kill-runner', after, 0, OTHER)];

/** A dead runner's runs are taken over after 20 s. `after`: from the beginning of the scene. */
export const FLOW_SCENES: readonly FlowScene[] = [
  {
    name: 'runners, Redis and the operator die one after the other',
    starts: 'often',
    faults: [
      fault('kill-runner', 2),
      fault('kill-redis', 4, 2),
      fault('kill-runner', 7, 0, OTHER),
      fault('kill-operator', 8),
      fault('kill-operator', 8, 0, OTHER),
      fault('kill-gateway', 10),
    ],
  },
  {
    name: 'Redis dies just as runs are taken over, then all runners do',
    starts: 'often',
    faults: [fault('kill-redis', 11, 1), ...everyRunner(15), fault('kill-operator', 16)],
  },
  {
    name: 'everything restarts at once',
    starts: 'once',
    faults: [
      ...everyRunner(8),
      fault('kill-redis', 8, 1),
      fault('kill-operator', 8),
      fault('kill-operator', 8, 0, OTHER),
      fault('kill-gateway', 8),
      fault('kill-gateway', 8, 0, OTHER),
    ],
  },
];

/** While failed runs are resumed. */
export const RESUMING: FlowScene = {
  name: 'runners, Redis and the operator die while failed runs are resumed',
  starts: 'never',
  faults: [
    fault('kill-operator', 0, 0, OTHER),
    fault('kill-runner', 1),
    fault('kill-redis', 2, 1),
    fault('kill-runner', 4, 0, OTHER),
  ],
};

/** While flows wait or execute that have a record. Each round has the next one. */
export const LOSSES: readonly FlowScene[] = [
  {
    name: 'the run store loses its data twice, and operators die while they fill it again',
    starts: 'never',
    faults: [
      fault('lose-store', 0),
      fault('kill-operator', 0.5),
      fault('kill-operator', 2, 0, OTHER),
      ...everyRunner(3),
      fault('lose-store', 6),
      fault('kill-redis', 7, 1),
    ],
  },
  {
    name: 'the run store loses its data between wait and callback, and runners die',
    starts: 'never',
    faults: [fault('lose-store', 0), fault('kill-runner', 1), fault('kill-redis', 3, 1)],
  },
  {
    name: 'the run store loses its data while the API server restarts',
    starts: 'never',
    faults: [fault('kill-kube-apiserver', 0, 4), fault('lose-store', 2), fault('kill-runner', 5)],
  },
];
