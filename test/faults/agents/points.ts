/** The points of an agent at which faults happen, and the faults. */
import type { Mode } from './model.ts';
import type { ScriptCall } from './redisGate.ts';
import { AGENT, type Limits } from './workflows.ts';

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

/** Where something is paused: on the wire, at a script of the run store, or nowhere: all runs wait. */
export type Point = { wire: string } | { script: StoreStep; side: 'before' | 'after' } | { parked: true };

/**
 * - `kill-runner`: SIGKILL, and another runner starts.
 * - `end-runner`: SIGTERM, and another runner starts.
 * - `freeze-runner`: SIGSTOP. Another runner takes over, and when the runs have ended the first one
 * continues; what it had sent arrives then.
 * - `lose-answer`: the connection ends on which the script was executed; its runner lives.
 */
export type Hit =
  | 'kill-runner'
  | 'end-runner'
  | 'freeze-runner'
  | 'lose-answer'
  | 'kill-redis'
  | 'kill-gateways';
export type Blow = { at: Point; hits: readonly Hit[] };

/**
 * `Unknown`: the mail may have been sent. `Refused`: the budget does not admit what the scene needs. `Any`:
 * some messages are refused.
 */
type Expected = 'Succeeded' | 'Unknown' | 'Refused' | 'Any';

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
  /** All people have one memory. */
  isMemoryShared?: boolean;
};

/** A scene in short: its name, its faults, and what differs from a scene that succeeds. */
export type Draft = [name: string, blows: readonly Blow[], more?: Partial<Scene>];

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

export const wire = (point: string): Point => ({ wire: point });
export const before = (script: StoreStep): Point => ({ script, side: 'before' });
export const after = (script: StoreStep): Point => ({ script, side: 'after' });
export const parked: Point = { parked: true };
export const kill = (at: Point): Blow => ({ at, hits: ['kill-runner'] });
export const end = (at: Point): Blow => ({ at, hits: ['end-runner'] });
export const freeze = (at: Point): Blow => ({ at, hits: ['freeze-runner'] });
export const lose = (script: StoreStep): Blow => ({ at: after(script), hits: ['lose-answer'] });

export const UNKNOWN = { expected: 'Unknown' } as const;
export const UNSENT = { ...UNKNOWN, mails: 0 } as const;
export const SENT = { ...UNKNOWN, mails: 1 } as const;
