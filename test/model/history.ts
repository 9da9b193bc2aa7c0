/**
 * A history: what clients do one after the other, and what becomes of their calls. Plain data, so that it can
 * be shortened and shown.
 */
import type { Quotas } from '../../runs/limits.ts';
import type { Work } from './clients/runner.ts';
import type { Fate } from './network.ts';
import type { ApiState } from './records.ts';

/** `by`, `run`, `failed`, `index`, `at` and `version` are taken modulo how many there are. */
export type Step = { fate?: Fate | undefined } & (
  | { do: 'submit'; workflow: string; key: number; body: number; test: boolean; again: boolean }
  | { do: 'claim'; by: number; max: number }
  | { do: 'work'; by: number; index: number; work: Work; at: number }
  | { do: 'endAll' | 'sweep' | 'beat' | 'takeOver' | 'wake' | 'startFailed' | 'leave'; by: number }
  | { do: 'die'; by: number }
  | { do: 'cancel'; run: number; again: boolean }
  | { do: 'signal'; run: number; at: number; again: boolean }
  | { do: 'record' | 'trim'; by: number }
  | {
      do: 'limit';
      workflow: string;
      limit: number;
      policy: 'Queue' | 'Reject' | 'Replace';
      suspended: boolean;
    }
  | { do: 'quota'; of: keyof Quotas; isFull: boolean }
  | { do: 'budget'; perSecond: number }
  | { do: 'makeObject'; workflow: string }
  | { do: 'deleteObject'; run: number }
  | { do: 'reconcile'; by: number; run: number }
  | { do: 'resume'; by: number; failed: number }
  | { do: 'seed'; by: number }
  | { do: 'restore'; by: number; run: number; version: number }
  | { do: 'api'; is: ApiState }
  | { do: 'pass'; ms: number }
  | { do: 'lose' }
  | { do: 'deliver'; index: number }
);

/** A history as lines to read. */
export function historyText(steps: readonly Step[]): string {
  return steps
    .map(({ do: name, fate, ...rest }, index) => {
      const values = Object.entries(rest).map(([key, value]) => `${key}=${value}`);
      const met = fate ? [`(call ${fate.at} to the ${fate.to} is ${fate.how})`] : [];
      return [String(index + 1).padStart(3), name, ...values, ...met].join(' ');
    })
    .join('\n');
}
