import { expect, test } from 'vitest';
import type { Credential, ProjectSettings, Workflow, WorkflowRun } from '../../api/kinds.ts';
import { statusFindings, type Observed } from './findings.ts';

const now = Date.parse('2026-11-26T12:00:00Z');
const NONE: Observed = { workflows: [], settings: [], credentials: [], runs: [], now };
const object = (kind: string, name: string, more: object) => ({
  kind,
  metadata: { namespace: 'shop', name, creationTimestamp: '2026-11-26T11:00:00Z' },
  ...more,
});
const ready = (status: string, reason: string) => ({
  conditions: [{ type: 'Ready', status, reason, message: 'why' }],
});
const workflow = (status: object) => object('Workflow', 'orders', { status }) as unknown as Workflow;
const settings = (status: object) =>
  object('ProjectSettings', 'default', { status }) as unknown as ProjectSettings;
const credential = (status: object) => object('Credential', 'mail', { status }) as unknown as Credential;
const run = (name: string, status: object, spec: object = {}) =>
  object('WorkflowRun', name, { spec: { workflow: 'orders', ...spec }, status }) as unknown as WorkflowRun;
const failed = (name: string, completionTime: string, spec?: object) =>
  run(name, { phase: 'Failed', completionTime, reason: 'NodeFailed', message: name }, spec);

test('a project in which everything works has no findings', () => {
  const runs = [run('a', { phase: 'Succeeded' }), failed('old', '2026-11-25T11:00:00Z')];
  const workflows = [workflow(ready('True', 'Serving'))];
  const others = {
    settings: [settings(ready('True', 'SettingsApplied'))],
    credentials: [credential(ready('True', 'Ok'))],
  };
  expect(statusFindings({ ...NONE, workflows, runs, ...others })).toEqual([]);
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

test.each([
  ['SettingsNotAdmitted', 'kubectl edit projectsettings.windlass.dev default -n shop'],
  ['ScalingConflict', 'kubectl get hpa -n shop'],
  ['ScalerFailing', 'kubectl describe hpa -n shop'],
])('settings that are not in effect are an error, whatever the workflows are: %s', (reason, command) => {
  const workflows = [workflow(ready('True', 'Serving'))];
  expect(statusFindings({ ...NONE, workflows, settings: [settings(ready('False', reason))] })).toMatchObject([
    { severity: 'error', reason, command },
  ]);
});

test.each([
  ['PodsRefused', 'kubectl describe resourcequotas,limitranges -n shop'],
  ['PodsNotReady', 'kubectl describe pods -l app.kubernetes.io/name=windlass-runner -n shop'],
])('where runners cannot start, the command shows why: %s', (reason, command) => {
  expect(statusFindings({ ...NONE, workflows: [workflow(ready('False', reason))] })).toMatchObject([
    { severity: 'error', reason, command },
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
    {
      message: '2 recorded runs failed in the last day, the last one two: two',
      command: 'windlass get two -n shop',
    },
  ]);
});

test('one failed run is counted in the singular', () => {
  const [finding] = statusFindings({ ...NONE, runs: [failed('one', '2026-11-26T10:00:00Z')] });
  expect(finding?.message).toMatch(/^1 recorded run failed/);
});

test('runs that nobody claims are an error', () => {
  expect(statusFindings({ ...NONE, runs: [run('a', { phase: 'Pending' }), run('b', {})] })).toMatchObject([
    {
      severity: 'error',
      reason: 'NotClaimed',
      message: '2 runs have waited for a runner for more than a minute',
    },
  ]);
  expect(statusFindings({ ...NONE, runs: [run('a', { phase: 'Pending' })] })).toMatchObject([
    { message: '1 run has waited for a runner for more than a minute' },
  ]);
});
