import { expect, test } from 'vitest';
import type { Credential, Workflow, WorkflowRun } from '../../api/kinds.ts';
import type { Pod } from '../../kube/resource.ts';
import { supportBundle } from './bundle.ts';

const SECRET = 'canary';
const metadata = { name: 'a', annotations: { note: SECRET }, labels: { note: SECRET } };
const conditions = [
  { type: 'Ready', status: 'False', reason: 'InvalidSpec', message: SECRET, lastTransitionTime: '' },
];

test('a support bundle lists objects with their states, and contains no text of users', () => {
  const workflow = {
    metadata,
    spec: { active: true, displayName: SECRET, nodes: [{ id: 'a', response: { body: SECRET } }] },
    status: { conditions },
  } as unknown as Workflow;
  const credential = {
    metadata,
    spec: { smtp: { host: SECRET, passwordRef: { name: SECRET, key: SECRET } } },
    status: { conditions, account: SECRET, connectURL: SECRET },
  } as unknown as Credential;
  const run = {
    metadata,
    spec: { workflow: 'a', input: { text_content: SECRET } },
    status: {
      phase: 'Failed',
      reason: 'NodeFailed',
      message: SECRET,
      nodes: [{ id: 'a', phase: 'Failed', reason: 'Timeout', message: SECRET, log: SECRET, output: SECRET }],
    },
  } as unknown as WorkflowRun;
  const pod = {
    metadata,
    spec: { containers: [{ env: [{ name: 'A', value: SECRET }] }] },
    status: { phase: 'Running' },
  } as unknown as Pod;
  const bundle = supportBundle({
    versions: { windlass: '1' },
    checks: [],
    programs: [],
    pods: [pod],
    workflows: [workflow],
    credentials: [credential],
    runs: [run],
  });
  expect(bundle).toMatchObject({
    workflows: [{ name: 'a', nodes: ['response'], conditions: [{ reason: 'InvalidSpec' }] }],
    credentials: [{ kind: 'smtp' }],
    runs: [{ phase: 'Failed', nodes: [{ id: 'a', reason: 'Timeout' }] }],
  });
  expect(JSON.stringify(bundle)).not.toContain(SECRET);
});
