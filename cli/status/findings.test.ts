import { expect, test } from 'vitest';
import type { Credential, Workflow, WorkflowRun } from '../../api/kinds.ts';
import { statusFindings, type Observed } from './findings.ts';

const now = Date.parse('2026-11-26T12:00:00Z');
const NONE: Observed = { workflows: [], credentials: [], runs: [], now };
const object = (kind: string, name: string, more: object) => ({
  kind,
  metadata: { namespace: 'shop', name, creationTimestamp: '2026-11-26T11:00:00Z' },
  ...more,
});
const ready = (status: string, reason: string) => ({
  conditions: [{ type: 'Ready', status, reason, message: 'why' }],
});
const workflow = (status: object) => object('Workflow', 'orders', { status }) as unknown as Workflow;
const credential = (status: object) => object('Credential', 'mail', { status }) as unknown as Credential;
const run = (name: string, status: object, spec: object = {}) =>
  object('WorkflowRun', name, { spec: { workflow: 'orders', ...spec }, status }) as unknown as WorkflowRun;
const failed = (name: string, completionTime: string, spec?: object) =>
  run(name, { phase: 'Failed', completionTime, reason: 'NodeFailed', message: name }, spec);

test('a project in which everything works has no findings', () => {
  const runs = [run('a', { phase: 'Succeeded' }), failed('old', '2026-11-25T11:00:00Z')];
  const workflows = [workflow(ready('True', 'Serving'))];
  expect(
    statusFindings({ ...NONE, workflows, runs, credentials: [credential(ready('True', 'Ok'))] }),
  ).toEqual([]);
});

test('errors come before warnings, and workflows before credentials', () => {
  const found = statusFindings({
    ...NONE,
    runs: [failed('one', '2026-11-26T10:00:00Z')],
    credentials: [credential(ready('False', 'NotConnected'))],
    workflows: [workflow(ready('False', 'UnknownSkill'))],
  });
  expect(found.map(({ severity, reason, command }) => [severity, reason, command])).toEqual([
    ['error', 'UnknownSkill', 'kubectl edit workflows.windlass.dev orders -n shop'],
    ['error', 'NotConnected', 'windlass connect mail -n shop'],
    ['warning', 'NodeFailed', 'windlass get one -n shop'],
  ]);
});

test('what the operator has not judged yet is a warning', () => {
  expect(statusFindings({ ...NONE, workflows: [workflow(ready('Unknown', 'Pending'))] })).toMatchObject([
    { severity: 'warning', reason: 'Pending' },
  ]);
});

test('failed live runs of a workflow are one finding, which names the last one', () => {
  const runs = [
    failed('one', '2026-11-26T10:00:00Z'),
    failed('two', '2026-11-26T11:00:00Z'),
    failed('test', '2026-11-26T11:30:00Z', { test: true }),
  ];
  expect(statusFindings({ ...NONE, runs })).toMatchObject([
    { message: '2 runs failed in the last day, the last one two: two', command: 'windlass get two -n shop' },
  ]);
});

test('one failed run is counted in the singular', () => {
  const [finding] = statusFindings({ ...NONE, runs: [failed('one', '2026-11-26T10:00:00Z')] });
  expect(finding?.message).toMatch(/^1 run failed/);
});

test('runs that nobody claims are an error', () => {
  expect(statusFindings({ ...NONE, runs: [run('a', { phase: 'Pending' }), run('b', {})] })).toMatchObject([
    {
      severity: 'error',
      reason: 'NotClaimed',
      message: '2 runs have waited for a runner for more than a minute',
    },
  ]);
});
