/**
 * What is promised over a whole history, and no single call can show: an end that never changes, a node that
 * ended, records before runs go, effects that happen once. What was known to a store that lost its data
 * counts only as far as it is recorded.
 */
import { DISABLED } from '../../api/disabled.ts';
import { isTerminal } from '../../api/phase.ts';
import type { NodeState } from '../../runs/types/node.ts';
import type { Decision, ParentRef } from '../../runs/types/run.ts';
import type { Records } from './records.ts';
import { eventsOf, type Call } from './scripts.ts';
import type { KeptRun, Run, State } from './state.ts';
import type { Change } from './watched.ts';
import { DISABLED_NODE, NODES } from './workflows.ts';

const OPEN = ['Running', 'Waiting', 'Pending'];

export type Ledger = ReturnType<typeof createLedger>;

export function createLedger(records: () => Records) {
  /** How runs ended, in the store that is open. */
  let ends = new Map<string, string>();
  /** How often a step began, without what is known to have failed; by the run that it was begun for first. */
  const effects = new Map<string, number>();
  /** By dedupe key: the run that callers were told of. */
  const told = new Map<string, string>();
  /** Runs whose keys are gone. An answer that names one may come late, when the key has another run. */
  const forgotten = new Set<string>();
  /** Runs whose failure was to start a workflow. */
  let owed = new Set<string>();
  /** Runs that had not ended when a store lost its data: what follows is another end. */
  const revived = new Set<string>();
  /** What a run that resumes another continues, by its name. */
  const origins = new Map<string, string>();
  let losses = 0;

  function judgeRun(state: State, name: string, before: Run | undefined, after: Run): string[] {
    const end = ends.get(name);
    if (isTerminal(after.phase)) ends.set(name, after.phase);
    if (after.unreported) owed.add(name);
    return [
      ...(end === undefined || after.phase === end ? [] : [`${name} ended as ${end} and is ${after.phase}`]),
      ...(before ? judgeProgress(name, before, after) : []),
      ...(after.dropped && !before?.dropped
        ? [...judgeDrop(name, after), ...judgeOwed(name, after, state)]
        : []),
      ...judgeEffects(name, after),
      ...judgeDisabled(name, after),
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

  /** A failure has started its workflow, or cannot, or is still to, before its run goes. */
  function judgeOwed(name: string, run: Run, { failures }: State): string[] {
    if (!owed.has(name) || !isReportable(run)) return [];
    const isSettled =
      told.has(`onFailure/${name}`) || run.onFailure !== undefined || failures[name] !== undefined;
    return isSettled ? [] : [`${name} failed and was released, and its failure has started nothing`];
  }

  /** What was begun once is shown by its run, or the run is in doubt. */
  function judgeEffects(name: string, { ended, doubt, nodes }: Run): string[] {
    if (ended !== undefined || doubt) return [];
    const isBegun = (id: string) => (effects.get(`${name} ${id}`) ?? 0) > 0;
    return NODES.filter(({ id, atMostOnce }) => atMostOnce && isBegun(id) && !isShown(nodes[id])).map(
      ({ id }) => `${id} of ${name} was begun: the run does not show it, and is not in doubt`,
    );
  }

  function judgeAccepted(before: State, after: State, name: string): string[] {
    const run = after.runs[name];
    if (!run) return [];
    const { trigger, dedupeKey = '', retryOf = '', origin } = headOf(run);
    if (trigger === 'onFailure') return judgeStarted(before, dedupeKey, name);
    if (origin === undefined) return [];
    origins.set(name, origin);
    const own = before.runs[retryOf];
    const failed = own?.ended !== undefined && !own.dropped ? own : before.kept[retryOf];
    return failed && !revived.has(retryOf) ? resumedProblems(name, run, failed) : [];
  }

  /** A failure starts one run, and only that of a live run that nobody waits for and no failure started. */
  function judgeStarted(before: State, key: string, name: string): string[] {
    const failed = key.slice('onFailure/'.length);
    const earlier = told.get(key);
    told.set(key, name);
    const run = before.runs[failed];
    return [
      ...(earlier === undefined ? [] : [`the failure of ${failed} started ${earlier} and ${name}`]),
      ...(!run || isReportable(run) ? [] : [`${failed} is ${run.phase}, and started ${name}`]),
    ];
  }

  const effectOf = (run: string, node: string) => `${origins.get(run) ?? run} ${node}`;

  return {
    /** What a change of the store breaks. */
    judge: ({ before, after, call, answer }: Change): string[] => {
      if (before === after) return [];
      const wrong = Object.entries(after.runs).flatMap(([name, run]) =>
        judgeRun(after, name, before.runs[name], run),
      );
      if (call.name === 'submit')
        wrong.push(...acceptedOf(call, answer).flatMap((run) => judgeAccepted(before, after, run)));
      // Its key is there again.
      if (call.name === 'restore' && answer === 'restored') forgotten.delete(call.args['run_id'] ?? '');
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
        if (asked !== losses || forgotten.has(run)) return [];
        const before = told.get(key);
        told.set(key, run);
        return before === undefined || before === run ? [] : [`the event ${key} is ${before} and ${run}`];
      };
    },
    /** A runner executes a step. */
    execute: (state: State, run: string, node: string, atMostOnce: boolean): string[] => {
      if (state.runs[run]?.ended !== undefined) return [`${node} of ${run} was executed after the end`];
      if (atMostOnce && state.runs[run]?.doubt) return [`${node} of ${run} was executed in doubt`];
      const count = (effects.get(effectOf(run, node)) ?? 0) + 1;
      effects.set(effectOf(run, node), count);
      return atMostOnce && count > 1 ? [`${node} of ${run} was executed ${count} times`] : [];
    },
    /** It is known to have had no effect: another attempt may follow. */
    undo: (run: string, node: string) => void effects.delete(effectOf(run, node)),
    /** Whether the step has had its effect, as its user finds out. */
    isDone: (run: string, node: string): boolean => effects.has(effectOf(run, node)),
    /**
     * The keys of these runs are gone: their time was over, or the record that would bring them back was
     * deleted.
     */
    forget: (runs: readonly string[]) => {
      for (const run of runs) forgotten.add(run);
      for (const [key, run] of told) if (runs.includes(run)) told.delete(key);
    },
    /** The store lost its data: what is not recorded is nobody's promise any more. */
    lose: () => {
      losses += 1;
      for (const name of records().objects.keys())
        if (!ends.has(name) || !isTerminal(records().objects.get(name)?.status?.phase)) revived.add(name);
      ends = new Map();
      owed = new Set();
      const { objects } = records();
      const kept = new Set(objects.keys());
      // An object of which nothing is recorded is submitted again, and executed from the beginning.
      for (const key of effects.keys())
        if (objects.get(key.split(' ')[0] ?? '')?.status?.epoch === undefined) effects.delete(key);
      for (const [key, run] of told) if (!kept.has(run)) told.delete(key);
    },
  };
}

type Head = {
  trigger: string;
  test: boolean;
  dedupeKey?: string;
  retryOf?: string;
  origin?: string;
  parent?: ParentRef;
  decisions?: Decision[];
};

const headOf = ({ head }: Pick<Run, 'head'>) => JSON.parse(head) as Head;

/** Whether the failure of the run starts a workflow. */
function isReportable(run: Run): boolean {
  const { trigger, test, parent } = headOf(run);
  return run.phase === 'Failed' && !test && trigger !== 'onFailure' && !parent?.waits;
}

function isShown(node: string | undefined): boolean {
  if (node === undefined) return false;
  const { phase, attempts } = JSON.parse(node) as NodeState;
  return phase !== 'Pending' || attempts > 0;
}

/**
 * A run that resumes another keeps what succeeded, and nothing else but its doubt: a disabled step is decided
 * again.
 */
function resumedProblems(name: string, run: Run, failed: KeptRun): string[] {
  const succeeded = (values: Record<string, string>) =>
    Object.entries(values).flatMap(([key, text]) => {
      if (key.startsWith('w:')) return [];
      const { phase, output } = JSON.parse(text) as NodeState;
      return phase === 'Succeeded' ? [`${key} ${JSON.stringify(output)}`] : [];
    });
  const before = new Set([...succeeded(failed.nodes), ...succeeded(failed.items)]);
  const after = new Set([...succeeded(run.nodes), ...succeeded(run.items)]);
  const decided = (headOf(run).decisions ?? []).map(({ node }) => node);
  const isDecided = (kept: string) => decided.some((node) => kept.startsWith(`${node} `));
  const isLeft = [...before].filter((kept) => !after.has(kept));
  const isAdded = [...after].filter((kept) => !before.has(kept) && !isDecided(kept));
  return [
    ...(failed.phase === 'Failed' ? [] : [`${name} resumes a run that is ${failed.phase}`]),
    ...isLeft.map((kept) => `${name} does not keep ${kept}`),
    ...isAdded.map((kept) => `${name} keeps ${kept}, which had not succeeded`),
    ...(run.nodes[DISABLED_NODE] === undefined ? [] : [`${name} does not decide a disabled step again`]),
    ...(failed.doubt && !run.doubt ? [`${name} resumes a run in doubt, and is not in doubt`] : []),
  ];
}

/** A disabled step is skipped for that reason, also in a run that was put back from its record. */
function judgeDisabled(name: string, { nodes }: Run): string[] {
  const text = nodes[DISABLED_NODE];
  if (text === undefined) return [];
  const { phase, attempts, reason } = JSON.parse(text) as NodeState;
  if (phase === 'Skipped' && attempts === 0 && reason === DISABLED) return [];
  return [`${DISABLED_NODE} of ${name} is disabled, and ${phase} for the reason ${reason ?? 'none'}`];
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

/** The runs that the call has started. */
function acceptedOf(call: Call, answer: unknown): string[] {
  const answers = Array.isArray(answer) ? (answer as string[][]) : [];
  return eventsOf(call).flatMap(({ args }, index) =>
    answers[index]?.[0] === 'accepted' ? [args['run_id'] ?? ''] : [],
  );
}
