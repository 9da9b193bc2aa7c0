/** A workflow `hello` that is started by hand, and runs of it that are made as objects. */
import { stringify } from 'yaml';
import type { WorkflowRun } from '../../../api/kinds.ts';
import type { RunSpec, RunStatus } from '../../../api/run.ts';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import { readRun } from '../../../runs/read.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { pollUntil } from '../time/poll.ts';
import type { TestProject } from './setUpProject.ts';

export const SOON = { timeoutMs: 40_000, everyMs: 25 };
export const WITHIN = { timeout: 40_000, interval: 25 };
export const READY = { type: 'Ready', status: 'True' };

export const HELLO = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name: 'hello' },
} as const;

export type HelloRuns = {
  /** Applies the workflow with these fields, and waits until it is ready. Its UID. */
  applyWorkflow: (spec?: object) => Promise<string>;
  create: (name: string, spec?: Partial<RunSpec>) => Promise<WorkflowRun>;
  /** The run in the run store, as soon as it is there. */
  submitted: (name: string) => Promise<RunState>;
  /** The status of the run, as soon as it has ended. */
  ended: (name: string) => Promise<RunStatus>;
};

/** `project`: that of the current test. */
export function helloRuns(project: () => TestProject): HelloRuns {
  return {
    applyWorkflow: async (spec = {}) => {
      const { harness, namespace } = project();
      const nodes = [{ id: 'trigger', manual: { testData: { from: 'test data' } } }];
      await harness.apply(namespace, stringify({ ...HELLO, spec: { active: true, nodes, ...spec } }));
      const { metadata } = await harness.waitFor(namespace, 'hello', READY);
      return metadata.uid ?? '';
    },
    create: (name, spec = {}) => {
      const { harness, namespace } = project();
      return harness.client.create(workflowRuns, {
        metadata: { namespace, name },
        spec: { workflow: 'hello', ...spec },
      });
    },
    submitted: (name) =>
      pollUntil(
        `run ${name} in the run store`,
        async () => {
          const { harness, uid } = project();
          const run = await readRun(harness.conn, uid, name);
          return run !== undefined && !('outcome' in run) && run;
        },
        SOON,
      ),
    ended: (name) =>
      pollUntil(
        `the end of run ${name}`,
        async () => {
          const { harness, namespace } = project();
          const { status } = await harness.client.get(workflowRuns, { namespace, name });
          return status?.completionTime !== undefined && status;
        },
        SOON,
      ),
  };
}
