/** A project with one workflow that starts by the clock, `report`, and the CronJobs that there are in it. */
import { expect } from 'vitest';
import { stringify } from 'yaml';
import type { Workflow } from '../../../api/kinds.ts';
import type { ScheduleTrigger } from '../../../api/trigger.ts';
import { cronJobs, type CronJob } from '../../../kube/resource.ts';
import type { OperatorHarness } from './operatorHarness.ts';

export const READY = { type: 'Ready', status: 'True', reason: 'Serving' };
export const SOON = { timeoutMs: 15_000, everyMs: 25 };
/** A step that makes the workflow invalid. */
export const BROKEN = { id: 'ask', skill: { name: 'no_such_skill', parameters: {} } };
export const STEP = { id: 'count', skill: { name: 'set', parameters: { values: { total: '1 + 1' } } } };

type ExpectedCondition = Parameters<OperatorHarness['waitFor']>[2];

export type ScheduleProject = {
  namespace: string;
  uid: string;
  /** Applies the workflow, with a schedule at nine on working days in Berlin but for what is given. */
  apply: (
    schedule: Partial<ScheduleTrigger>,
    more?: { active?: boolean; suspend?: boolean; nodes?: object[] },
  ) => Promise<string>;
  /** Waits until a condition of the workflow is as said; returns the workflow. */
  waitFor: (expected: ExpectedCondition, timeoutMs?: number) => Promise<Workflow>;
  found: () => Promise<CronJob[]>;
  names: () => Promise<string[]>;
  /** Times and zone of each. */
  schedules: () => Promise<string[]>;
  /** Fails where there is none, or another one. */
  onlyCronJob: () => Promise<CronJob>;
};

/** Makes a project of its own, so that tests can go on at the same time. */
export async function openScheduleProject(harness: OperatorHarness): Promise<ScheduleProject> {
  const { namespace, uid } = await harness.createProject();
  const found = async () => (await harness.client.list(cronJobs, { namespace })).items;
  return {
    namespace,
    uid,
    apply: (schedule, { active = true, suspend = false, nodes = [] } = {}) => {
      const trigger = {
        id: 'tick',
        schedule: { cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin', ...schedule },
      };
      const object = {
        apiVersion: 'windlass.dev/v1alpha1',
        kind: 'Workflow',
        metadata: { name: 'report' },
        spec: { active, ...(suspend && { suspend }), nodes: [trigger, ...nodes] },
      };
      return harness.apply(namespace, stringify(object));
    },
    waitFor: (expected, timeoutMs) => harness.waitFor(namespace, 'report', expected, timeoutMs),
    found,
    names: async () => (await found()).map(({ metadata }) => metadata.name),
    schedules: async () => (await found()).map(({ spec }) => `${spec?.schedule} ${spec?.timeZone}`),
    onlyCronJob: async () => {
      const all = await found();
      expect(all).toHaveLength(1);
      return all[0] as CronJob;
    },
  };
}
