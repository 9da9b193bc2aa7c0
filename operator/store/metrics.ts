/** The metrics of the run store's memory. A limited number of projects is named; all others are `_other`. */
import { Gauge, type Registry } from 'prom-client';
import { DURABILITY_PROBLEMS, type DurabilityProblem } from '../../store/durability.ts';
import type { ServerMemory, Use } from '../../runs/storeUse.ts';
import { OTHER, type LabelBound } from '../shared/metricLabels.ts';
import { limitsReached, LIMITS } from './quota.ts';

/** An open project, by the name of its namespace. */
type Project = { namespace: string; use: Use };

export type StoreMetrics = {
  /**
   * Sets the use of all open projects. `existing`: the namespaces of all projects; one that is not open keeps
   * its label.
   */
  seen(memory: ServerMemory, projects: readonly Project[], existing: readonly string[]): void;
  /** Sets by which settings the run store may lose what it confirmed. */
  durability(problems: readonly DurabilityProblem[]): void;
};

/** Registers the metrics. They have no values before the first reading. */
export function createStoreMetrics(registers: Registry[], bound: LabelBound): StoreMetrics {
  const seenProjects = projectGauges(registers, bound);
  const memoryBytes = new Gauge({
    name: 'windlass_operator_run_store_memory_bytes',
    help: 'Memory of the run store: used, and max (0: no limit).',
    labelNames: ['kind'],
    registers,
  });
  const bytes = new Gauge({
    name: 'windlass_operator_run_store_bytes',
    help: 'Bytes that all projects take of it: runs, keys (dedupe), summaries, replies.',
    labelNames: ['kind'],
    registers,
  });
  const full = new Gauge({
    name: 'windlass_operator_run_store_full_projects',
    help: 'Projects that have reached a limit: quota (events are refused), claims (no further run is claimed), keys (events with a key are refused).',
    labelNames: ['limit'],
    registers,
  });
  const beyond = new Gauge({
    name: 'windlass_operator_unrecorded_runs',
    help: 'Unfinished runs without a WorkflowRun, because too many are recorded already.',
    registers,
  });
  const durability = new Gauge({
    name: 'windlass_operator_run_store_durability_problem',
    help: 'Whether the run store may lose what it confirmed, by problem: 1 or 0.',
    labelNames: ['problem'],
    registers,
  });
  return {
    durability: (problems) => {
      for (const problem of DURABILITY_PROBLEMS)
        durability.set({ problem }, problems.includes(problem) ? 1 : 0);
    },
    seen: ({ used, max }, projects, existing) => {
      seenProjects(projects, existing);
      const uses = projects.map(({ use }) => use);
      const sum = (of: (use: Use) => number) => uses.reduce((total, use) => total + of(use), 0);
      memoryBytes.set({ kind: 'used' }, used);
      memoryBytes.set({ kind: 'max' }, max);
      bytes.set(
        { kind: 'runs' },
        sum((use) => use.bytes),
      );
      for (const kind of ['keys', 'summaries', 'replies'] as const)
        bytes.set(
          { kind },
          sum((use) => use[kind]),
        );
      beyond.set(sum((use) => use.beyond));
      const reached = uses.flatMap(limitsReached);
      for (const limit of LIMITS) full.set({ limit }, reached.filter((each) => each === limit).length);
    },
  };
}

const KINDS = { runs: 'bytes', keys: 'keys', summaries: 'summaries', replies: 'replies' } as const;
const LIMIT_FIELDS = { quota: 'quota', claims: 'claimQuota', keys: 'keyQuota' } as const;
type Field = (typeof KINDS)[keyof typeof KINDS] | (typeof LIMIT_FIELDS)[keyof typeof LIMIT_FIELDS];

function projectGauges(
  registers: Registry[],
  bound: LabelBound,
): (projects: readonly Project[], existing: readonly string[]) => void {
  const bytes = new Gauge({
    name: 'windlass_project_run_store_bytes',
    help: 'Bytes that a project takes of the run store: runs, keys (dedupe), summaries, replies.',
    labelNames: ['namespace', 'kind'],
    registers,
  });
  const limits = new Gauge({
    name: 'windlass_project_run_store_limit_bytes',
    help: 'Limits of a project: quota (of runs, above which events are refused), claims (of runs, above which no further run is claimed), keys (of dedupe keys).',
    labelNames: ['namespace', 'limit'],
    registers,
  });
  let before = new Map<string, Use[]>();
  let named: readonly string[] | undefined;

  /** Sorting many names takes long; an unchanged list needs no new choice. */
  function retainNames(existing: readonly string[]): void {
    if (areSame(named, existing)) return;
    named = existing;
    bound.retain(existing.map((name) => ({ name, namespace: name, isActive: true })));
  }

  function show(namespace: string, uses: readonly Use[]): void {
    const sum = (field: Field) => uses.reduce((total, use) => total + use[field], 0);
    for (const [kind, field] of Object.entries(KINDS)) bytes.set({ namespace, kind }, sum(field));
    for (const [limit, field] of Object.entries(LIMIT_FIELDS)) limits.set({ namespace, limit }, sum(field));
  }

  function hide(namespace: string): void {
    for (const kind of Object.keys(KINDS)) bytes.remove({ namespace, kind });
    for (const limit of Object.keys(LIMIT_FIELDS)) limits.remove({ namespace, limit });
  }

  return (projects, existing) => {
    retainNames(existing);
    const now = new Map<string, Use[]>();
    for (const { namespace: name, use } of projects) {
      const namespace = bound.isShown(name) ? name : OTHER;
      const uses = now.get(namespace);
      if (uses) uses.push(use);
      else now.set(namespace, [use]);
    }
    // Of a thousand projects most were not read since: they sleep.
    for (const [namespace, uses] of now) if (!areSame(before.get(namespace), uses)) show(namespace, uses);
    for (const namespace of before.keys()) if (!now.has(namespace)) hide(namespace);
    before = now;
  };
}

function areSame<T>(before: readonly T[] | undefined, now: readonly T[]): boolean {
  return before?.length === now.length && now.every((each, index) => each === before[index]);
}
