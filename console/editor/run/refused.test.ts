import { expect, test } from 'vitest';
import { draftRefusal } from '../../../api/refusedDraft.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { ApiFailure } from '../../http/failure.ts';
import { RunRefused, runRefused } from './refused.ts';

const spec: WorkflowSpec = {
  active: false,
  nodes: [
    { id: 'trigger', manual: {} },
    { id: 'mail', skill: { name: 'send_email' } },
  ],
};
const NODE = 'node mail: skill: parameters: to: is missing';
const EDGE = 'edge trigger → mail: when: line 1, column 3: unknown name';
const problemsOf = (message: string) => {
  const failure = runRefused({ title: 'The draft cannot run', reason: 'draft-refused', message }, spec);
  return failure instanceof RunRefused ? [failure.problems, failure.more] : failure;
};
const AT_NODE = { place: 'mail', message: 'To is missing' };
const AT_EDGE = { place: 'trigger → mail', message: 'Line 1, column 3: unknown name' };

test.each([
  ['the draft', draftRefusal('draft', [NODE]), [AT_NODE], 0],
  ['the workflow', draftRefusal('workflow', [NODE, EDGE], 3), [AT_NODE, AT_EDGE], 3],
  ['what is published', `${EDGE}; ${NODE}`, [AT_EDGE, AT_NODE], 0],
])('a refusal for problems of %s has each at its node or connection', (_what, message, problems, more) => {
  expect(problemsOf(message)).toEqual([problems, more]);
});

test('another refusal has a text alone', () => {
  const refused = problemsOf('Run one has no input.');
  expect(refused).toBeInstanceOf(ApiFailure);
  expect(refused).toMatchObject({ title: 'The draft cannot run', detail: 'Run one has no input.' });
});
