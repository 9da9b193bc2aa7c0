/**
 * What is promised over a whole history, and no single call can show: an end that never changes, a node that
 * ended, records before runs go, effects that happen once. What was known to a store that lost its data
 * counts only as far as it is recorded.
 */
import { isTerminal } from '../../api/phase.ts';
import type { NodeState } from '../../runs/types.ts';
import type { Records } from './records.ts';
import type { Run, State } from './state.ts';
import type { Change } from './watched.ts';

const OPEN = ['Running', 'Waiting', 'Pending'];

export type Ledger = ReturnType<typeof createLedger>;

export function createLedger(records: () => Records) {
  /** How runs ended, in the store that is open. */
  let ends = new Map<string, string>();
  /** How often a step began that must not be repeated. */
  const effects = new Map<string, number>();
  /** By dedupe key: the run that callers were told of. */
  const told = new Map<string, string>();
  let losses = 0;

  function judgeRun(name: string, before: Run | undefined, after: Run): string[] {
    const end = ends.get(name);
    if (isTerminal(after.phase)) ends.set(name, after.phase);
    return [
      ...(end === undefined || after.phase === end ? [] : [`${name} ended as ${end} and is ${after.phase}`]),
      ...(before ? judgeProgress(name, before, after) : []),
      ...(after.dropped && !before?.dropped ? judgeDrop(name, after) : []),
    ];
  }

  /** An object that was there stays as it is for ever, once the run is gone. */
  function judgeDrop(name: string, { phase, epoch }: Run): string[] {
    const object = records().objects.get(name);
    if (!object || object.status?.phase === phase) return [];
    // What an earlier store knew of the end may arrive after that store was lost, and the run was put back.
    if (isTerminal(object.status?.phase) && (object.status?.epoch ?? 0) < epoch) return [];
    return [`${name} was released as ${phase}, and its record says ${object.status?.phase ?? 'nothing'}`];
  }

  return {
    /** What a change of the store breaks. */
    judge: ({ before, after, call, answer }: Change): string[] => {
      if (before === after) return [];
      const wrong = Object.entries(after.runs).flatMap(([name, run]) =>
        judgeRun(name, before.runs[name], run),
      );
      if (call.name === 'restore' && answer === 'restored' && Number(call.args['epoch']) < 1)
        wrong.push(`${call.args['run_id']} was restored without an epoch`);
      return wrong;
    },
    /** What an end breaks that is written into a record. */
    judgeRecord: (name: string, phase: string): string[] => {
      const end = ends.get(name);
      return end === undefined || end === phase
        ? []
        : [`${name} ended as ${end} and is recorded as ${phase}`];
    },
    /**
     * A caller sends an event; what is given takes the run that it is told of. What an earlier store answered
     * is no promise.
     */
    asked: (key: string) => {
      const asked = losses;
      return (run: string): string[] => {
        if (asked !== losses) return [];
        const before = told.get(key);
        told.set(key, run);
        return before === undefined || before === run ? [] : [`the event ${key} is ${before} and ${run}`];
      };
    },
    /** A runner executes a step. */
    execute: (state: State, run: string, node: string, atMostOnce: boolean): string[] => {
      if (state.runs[run]?.ended !== undefined) return [`${node} of ${run} was executed after the end`];
      const count = (effects.get(`${run} ${node}`) ?? 0) + 1;
      effects.set(`${run} ${node}`, count);
      return atMostOnce && count > 1 ? [`${node} of ${run} was executed ${count} times`] : [];
    },
    /**
     * The keys of these runs are gone: their time was over, or the record that would bring them back was
     * deleted.
     */
    forget: (runs: readonly string[]) => {
      for (const [key, run] of told) if (runs.includes(run)) told.delete(key);
    },
    /** The store lost its data: what is not recorded is nobody's promise any more. */
    lose: () => {
      losses += 1;
      ends = new Map();
      const { objects } = records();
      const kept = new Set(objects.keys());
      // An object of which nothing is recorded is submitted again, and executed from the beginning.
      for (const key of effects.keys())
        if (objects.get(key.split(' ')[0] ?? '')?.status?.epoch === undefined) effects.delete(key);
      for (const [key, run] of told) if (!kept.has(run)) told.delete(key);
    },
  };
}

/** A node that ended stays as it is, and what is recorded never goes back. */
function judgeProgress(name: string, before: Run, after: Run): string[] {
  const changed = Object.entries(before.nodes).filter(
    ([id, text]) => hasEnded(text) && after.nodes[id] !== text,
  );
  const isBack =
    after.epoch < before.epoch || (after.epoch === before.epoch && after.sequence < before.sequence);
  return [
    ...changed.map(([id]) => `the node ${id} of ${name} had ended, and changed`),
    ...(isBack ? [`epoch and sequence of ${name} went back`] : []),
  ];
}

function hasEnded(node: string): boolean {
  return !OPEN.includes((JSON.parse(node) as NodeState).phase);
}
