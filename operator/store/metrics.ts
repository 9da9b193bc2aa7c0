/** What whoever collects metrics is shown of the run store's memory. Labels are bounded, never a name: which project it is, a log line says. */
import { Gauge, type Registry } from 'prom-client';
import type { Memory, Use } from '../../runs/memory.ts';
import { limitsReached, LIMITS } from './quota.ts';

export type StoreMetrics = {
  /** What all open projects take now. */
  seen(memory: Memory, uses: readonly Use[]): void;
};

/** Registers them. Nothing is shown before the first look. */
export function createStoreMetrics(registers: Registry[]): StoreMetrics {
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
  return {
    seen: ({ used, max }, uses) => {
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
      for (const limit of LIMITS)
        full.set({ limit }, uses.filter((use) => limitsReached(use).includes(limit)).length);
    },
  };
}
