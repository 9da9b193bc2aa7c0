/** The points of an agent at which faults happen, and the scenes that are played. */
import type { ScriptCall } from './redisGate.ts';
import type { Mode } from './model.ts';
import { AGENT, MOST_OUTPUT, WIDE, type Limits } from './workflows.ts';

/**
 * What a script of the run store does. `K` is an answer of the model, `K.I` the result of its tool call I,
 * `K.I!` the start of a tool call with its child run.
 */
export type StoreStep =
  | 'memory'
  | 'reserve'
  | 'turn'
  | 'child begins'
  | 'child ends'
  | 'run ends'
  | `m${string}`;

/** Where something is held: on the wire, at a script of the run store, or nowhere: all runs wait. */
export type Point =
  | { wire: string }
  | { script: StoreStep; side: 'before' | 'after' }
  | { parked: true };

/** `lose-answer` ends the connection on which the script was executed; its runner lives. */
export type Hit = 'kill-runner' | 'lose-answer' | 'kill-redis' | 'kill-gateways';
export type Blow = { at: Point; hits: readonly Hit[] };

/**
 * `Unknown`: the mail may have been sent. `Refused`: the budget does not admit what the scene needs. `Any`:
 * some messages are refused.
 */
export type Expected = 'Succeeded' | 'Unknown' | 'Refused' | 'Any';

export type Scene = {
  id: string;
  name: string;
  mode: Mode;
  blows: readonly Blow[];
  expected: Expected;
  /** How many mails must have been sent; left out: any number that is allowed. */
  mails?: number;
  limits: Limits;
  /** How many people write at the same time. */
  sessions: number;
};

const wire = (point: string): Point => ({ wire: point });
const before = (script: StoreStep): Point => ({ script, side: 'before' });
const after = (script: StoreStep): Point => ({ script, side: 'after' });
const parked: Point = { parked: true };
const kill = (at: Point): Blow => ({ at, hits: ['kill-runner'] });
const lose = (script: StoreStep): Blow => ({ at: after(script), hits: ['lose-answer'] });

/** Whether a script is that step. `uids`: of the workflow of the agent, and of the child runs. */
export function stepMatcher(
  step: StoreStep,
  uids: { agent: string; child: string },
): (call: ScriptCall) => boolean {
  const ends = (uid: string) => (call: ScriptCall) =>
    call.args.includes('Succeeded') && call.keys[9]?.endsWith(`:wf:${uid}`) === true;
  switch (step) {
    case 'memory':
      return ({ keys }) => keys.length === 6 && keys[5]?.endsWith(':memlocks') === true;
    case 'reserve':
      return ({ keys }) => keys.length === 6 && keys[5]?.endsWith(':usage') === true;
    case 'turn':
      return ({ args }) => args.some((arg) => arg.startsWith('{"run":') && arg.includes('"user":'));
    case 'child begins':
      return ({ keys }) => keys.some((key) => key.includes(':descendants:'));
    case 'child ends':
      return ends(uids.child);
    case 'run ends':
      return ends(uids.agent);
    default:
      return ({ args }) => args.includes(`${AGENT}/${step}`);
  }
}

type Draft = [name: string, blows: readonly Blow[], more?: Partial<Scene>];

const UNKNOWN = { expected: 'Unknown' } as const;
const UNSENT = { ...UNKNOWN, mails: 0 } as const;
const SENT = { ...UNKNOWN, mails: 1 } as const;

/** One kill of the runner each. */
const POINTS: readonly Draft[] = [
  ['the agent has got its memory, and its runner does not know it', [kill(after('memory'))]],
  ['the first request is reserved and not sent', [kill(after('reserve'))]],
  ['the first request has arrived', [kill(wire('model 1 arrives'))]],
  ['half of the first answer is sent', [kill(wire('model 1 half'))]],
  ['the first answer has come, and is not stored', [kill(before('m1'))]],
  ['the first answer is stored, and its runner does not know it', [kill(after('m1'))]],
  ['a tool is called and has had no effect', [kill(wire('lookup arrives'))]],
  ['a tool has had its effect, and its result is not stored', [kill(before('m1.0'))]],
  ['the result of a tool is stored', [kill(after('m1.0'))]],
  ['the request after a tool has arrived', [kill(wire('model 2 arrives'))]],
  ['the call of the AtMostOnce tool is not stored', [kill(before('m2'))]],
  ['the call of the AtMostOnce tool is stored and not made', [kill(after('m2'))], UNSENT],
  ['the AtMostOnce tool is called and has had no effect', [kill(wire('mail arrives'))], UNSENT],
  ['the AtMostOnce tool has had its effect, and nobody answered', [kill(wire('mail received'))], SENT],
  ['the result of the AtMostOnce tool has come, and is not stored', [kill(before('m2.0'))], SENT],
  ['the result of the AtMostOnce tool is stored', [kill(after('m2.0'))]],
  ['the call of the workflow tool is stored, and no child run exists', [kill(before('child begins'))]],
  ['the child run exists, and the agent does not know it', [kill(after('child begins'))]],
  ['the agent knows its child run', [kill(after('m3.0!'))]],
  ['the agent is parked, and so is its child run', [kill(parked)]],
  ['the agent is parked, and its child run is executed', [kill(wire('refund arrives'))]],
  ['the agent is parked, and the end of its child run is not stored', [kill(before('child ends'))]],
  ['the end of the child run is stored, and the agent not resumed', [kill(after('child ends'))]],
  ['the result of the workflow tool is stored', [kill(after('m3.0'))]],
  ['half of the last answer is streamed to the chat', [kill(wire('model 4 half'))]],
  ['the last answer has come, and end and memory are not stored', [kill(before('turn'))]],
  ['end and memory are stored, and their runner does not know it', [kill(after('turn'))]],
  ['memory is stored, and the run continues after the agent', [kill(wire('after arrives'))]],
  ['the end of the run is not stored', [kill(before('run ends'))]],
  ['the end of the run is stored, and its runner does not know it', [kill(after('run ends'))]],
  [
    'the AtMostOnce tool is called beside the two others',
    [kill(wire('mail received'))],
    { ...SENT, mode: 'parallel' },
  ],
];

/** Two faults, each at its point. */
const SEQUENCES: readonly Draft[] = [
  ['during the first answer, then again', [kill(wire('model 1 half')), kill(wire('model 1 half'))]],
  [
    'during the first answer, then during the AtMostOnce tool',
    [kill(wire('model 1 half')), kill(wire('mail received'))],
    SENT,
  ],
  ['during a tool, then again', [kill(wire('lookup arrives')), kill(wire('lookup arrives'))]],
  [
    'after the AtMostOnce tool, then during the last answer',
    [kill(after('m2.0')), kill(wire('model 4 half'))],
  ],
  ['while the agent is parked, then as end and memory are stored', [kill(parked), kill(after('turn'))]],
  [
    'during the child run, then as its end is stored',
    [kill(wire('refund arrives')), kill(after('child ends'))],
  ],
  ['as the memory is got, then before it is stored', [kill(after('memory')), kill(before('turn'))]],
  [
    'the answer to the stored memory is lost, then a kill before the run ends',
    [lose('turn'), kill(wire('after arrives'))],
  ],
  [
    'the answer to the start of the AtMostOnce tool is lost, then a kill after its effect',
    [lose('m2'), kill(wire('mail received'))],
    SENT,
  ],
  [
    'the answer to the result of the AtMostOnce tool is lost, then a kill during the next request',
    [lose('m2.0'), kill(wire('model 3 arrives'))],
  ],
  [
    'the answer to a reservation is lost, then a kill during the request',
    [lose('reserve'), kill(wire('model 1 half'))],
  ],
  [
    'the answer to the start of the child run is lost, then a kill while it is parked',
    [lose('child begins'), kill(parked)],
  ],
];

/** Budgets that are nearly used up. A request reserves `MOST_OUTPUT` and its input, about 700 tokens. */
const BUDGETS: readonly Draft[] = [
  [
    'the budget of the run admits one request, which a kill leaves unanswered',
    [kill(wire('model 1 half'))],
    { expected: 'Refused', mails: 0, limits: { ...WIDE, run: MOST_OUTPUT * 4 } },
  ],
  [
    'six people share a budget of a day for three requests, and a kill during the first',
    [kill(wire('model 1 half'))],
    { expected: 'Any', mode: 'none', sessions: 6, limits: { ...WIDE, day: MOST_OUTPUT * 8 } },
  ],
];

const STREAMING = wire('model 4 half');

/** Faults of programs that all scenes share: one scene at a time. */
const SHARED: readonly Draft[] = [
  ['Redis restarts while the answer is streamed', [{ at: STREAMING, hits: ['kill-redis'] }]],
  ['the gateways restart while the answer is streamed', [{ at: STREAMING, hits: ['kill-gateways'] }]],
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
  [
    'Redis and the runner die after the effect of the AtMostOnce tool',
    [{ at: wire('mail received'), hits: ['kill-redis', 'kill-runner'] }],
    SENT,
  ],
  ['Redis restarts as end and memory are stored', [{ at: before('turn'), hits: ['kill-redis'] }]],
];

const sceneOf =
  (prefix: string) =>
  ([name, blows, more]: Draft, index: number): Scene => ({
    id: `${prefix}${index + 1}`,
    name,
    blows,
    mode: 'serial',
    expected: 'Succeeded',
    limits: WIDE,
    sessions: 1,
    ...more,
  });

/** Each in a project of its own, several at the same time. */
export const OWN_SCENES: readonly Scene[] = [
  ...SEQUENCES.map(sceneOf('sequence-')),
  ...BUDGETS.map(sceneOf('budget-')),
  ...POINTS.map(sceneOf('point-')),
];
export const SHARED_SCENES: readonly Scene[] = SHARED.map(sceneOf('restart-'));
