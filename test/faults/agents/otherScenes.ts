/** Runners that are not killed, memories that agents share, budgets, and faults of shared programs. */
import { after, before, end, freeze, kill, lose, SENT, UNKNOWN, wire, type Draft } from './points.ts';
import { MOST_OUTPUT, WIDE } from './workflows.ts';

/** Runners that were taken for dead and continue. */
export const FROZEN: readonly Draft[] = [
  ['the request is not reserved, and the frozen runner reserves it late', [freeze(before('reserve'))]],
  ['the first answer is sent to a frozen runner', [freeze(wire('model 1 half'))]],
  ['the AtMostOnce tool is stored late by a frozen runner', [freeze(before('m2'))]],
  ['the AtMostOnce tool is called late by a frozen runner', [freeze(after('m2'))], UNKNOWN],
  ['the child run is begun late by a frozen runner', [freeze(before('child begins'))]],
  ['the memory is stored late by a frozen runner', [freeze(before('turn'))]],
  ['the end of the run is stored late by a frozen runner', [freeze(before('run ends'))]],
];

export const SHUTDOWNS: readonly Draft[] = [
  ['the runner shuts down while a tool is called', [end(wire('lookup arrives'))]],
  ['the runner shuts down while the AtMostOnce tool is called', [end(wire('mail received'))], { mails: 1 }],
  ['the runner shuts down while the answer is streamed', [end(wire('model 4 half'))]],
];

/** Three people with one memory: one agent has it, the others wait. */
const QUEUED = { mode: 'short', sessions: 3, isMemoryShared: true } as const;
export const QUEUES: readonly Draft[] = [
  ['two agents wait for the memory of one that dies', [kill(wire('model 2 half'))], QUEUED],
  ['the memory is passed on, and its runner does not know it', [kill(after('turn'))], QUEUED],
  [
    'the answer to the passed memory is lost, then a kill during an answer',
    [lose('turn'), kill(wire('model 2 half'))],
    QUEUED,
  ],
  ['the memory is passed on late by a frozen runner', [freeze(before('turn'))], QUEUED],
];

/** Budgets that are nearly used up. A request reserves `MOST_OUTPUT` and its input. */
export const BUDGETS: readonly Draft[] = [
  [
    'the budget of the run admits one request, which a kill leaves unanswered',
    [kill(wire('model 1 half'))],
    { expected: 'Refused', mails: 0, limits: { ...WIDE, run: MOST_OUTPUT * 4 } },
  ],
  [
    'six people share a budget of a day for a few requests, and a kill during the first',
    [kill(wire('model 1 half'))],
    { expected: 'Any', mode: 'none', sessions: 6, limits: { ...WIDE, day: MOST_OUTPUT * 8 } },
  ],
];

const STREAMING = wire('model 4 half');

/** Faults of programs that all scenes share. Those of a list have them at the same time. */
export const REDIS: readonly Draft[] = [
  ['Redis restarts while the answer is streamed', [{ at: STREAMING, hits: ['kill-redis'] }]],
  [
    'Redis and the runner die after the effect of the AtMostOnce tool',
    [{ at: wire('mail received'), hits: ['kill-redis', 'kill-runner'] }],
    SENT,
  ],
  ['Redis restarts as end and memory are stored', [{ at: before('turn'), hits: ['kill-redis'] }]],
];

export const GATEWAYS: readonly Draft[] = [
  ['the gateways restart while the answer is streamed', [{ at: STREAMING, hits: ['kill-gateways'] }]],
];

export const BOTH: readonly Draft[] = [
  [
    'Redis and the gateways restart while the answer is streamed, then the runner dies',
    [
      { at: STREAMING, hits: ['kill-redis', 'kill-gateways'] },
      { at: wire('after arrives'), hits: ['kill-runner'] },
    ],
  ],
  [
    'Redis, the gateways and the runner die while the answer is streamed',
    [{ at: STREAMING, hits: ['kill-redis', 'kill-gateways', 'kill-runner'] }],
  ],
];
