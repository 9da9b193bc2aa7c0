/**
 * The reference: what each script of the run store does to the runs of a project, and what it answers, as a
 * state machine without keys. Pure: the same state and call give the same.
 */
import { isDeepStrictEqual } from 'node:util';
import { ACCEPTING } from './reference/accepting.ts';
import { KEEPING } from './reference/keeping.ts';
import type { Transition } from './reference/moves.ts';
import { RECORDING } from './reference/recording.ts';
import { RUNNING } from './reference/running.ts';
import { SIGNALING } from './reference/signaling.ts';
import type { Call } from './scripts.ts';
import type { State } from './state.ts';

const TRANSITIONS: Record<string, Transition> = {
  ...ACCEPTING,
  ...RUNNING,
  ...RECORDING,
  ...KEEPING,
  ...SIGNALING,
};

/** The state after the call, and its answer; `undefined` as an answer says that it does not matter. */
export function next(state: State, call: Call): { state: State; answer: unknown } {
  const transition = TRANSITIONS[call.name];
  if (!transition) throw new Error(`the reference does not know the script ${call.name}: add it`);
  const after = copyOf(state);
  const answer = transition(after, call);
  return { state: after, answer };
}

/** Of plain data; several times as fast as `structuredClone`. */
function copyOf<T>(value: T): T {
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) copy[name] = copyOf(member);
  return copy as T;
}

/**
 * What differs, one line each: where, what the reference says, what is there. What is undefined is not there.
 */
export function differences(expected: unknown, found: unknown, where = ''): string[] {
  if (isObject(expected) && isObject(found)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(found)]);
    return [...names].flatMap((name) => differences(expected[name], found[name], `${where}.${name}`));
  }
  if (isDeepStrictEqual(expected, found)) return [];
  return [`${where.slice(1)}: the reference says ${shown(expected)}, found ${shown(found)}`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
