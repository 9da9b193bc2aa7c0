import { expect, test } from 'vitest';
import { calleesOf, type WorkflowSpec } from '../../../api/workflow.ts';
import { calleesExist } from './callees.ts';

const calling = (...names: string[]): WorkflowSpec => ({
  active: true,
  nodes: [
    { id: 'trigger', manual: {} },
    ...names.map((name, index) => ({ id: `call_${index}`, workflow: { name } })),
  ],
});

test.each<[sentence: string, calls: string[], others: Record<string, string[]>, says: string[]]>([
  ['a workflow that exists', ['other'], { other: [] }, []],
  ['the same workflow twice', ['other', 'other'], { other: [] }, []],
  ['a workflow that two others run', ['b', 'c'], { b: ['d'], c: ['d'], d: [] }, []],
  ['a cycle of other workflows alone', ['b'], { b: ['c'], c: ['b'] }, []],
  ['a missing workflow of another workflow', ['b'], { b: ['nobody'] }, []],
  [
    'a workflow that does not exist',
    ['nobody'],
    {},
    [
      'node call_0: workflow.name: there is no workflow nobody in this namespace: apply it, or correct the name',
    ],
  ],
  [
    'the workflow itself',
    ['own'],
    {},
    [
      'node call_0: workflow.name: the workflow would run itself without end: own → own. Remove one of these nodes or tools',
    ],
  ],
  [
    'a workflow that runs this one',
    ['b'],
    { b: ['own'] },
    [
      'node call_0: workflow.name: the workflow would run itself without end: own → b → own. Remove one of these nodes or tools',
    ],
  ],
  [
    'an indirect cycle, beside a node without one',
    ['d', 'b'],
    { b: ['d', 'c'], c: ['own'], d: [] },
    [
      'node call_1: workflow.name: the workflow would run itself without end: own → b → c → own. Remove one of these nodes or tools',
    ],
  ],
])('workflow nodes: %s', (_sentence, calls, others, says) => {
  const problems = calleesExist(calling(...calls), 'own', (name) => others[name]);
  expect(problems.map(({ message }) => message)).toEqual(says);
});

test('tools of agents count as workflow nodes', () => {
  const agent = {
    credential: 'llm',
    model: 'm',
    prompt: 'p',
    tools: [{ skill: 'http_request' }, { workflow: 'b' }, { workflow: 'nobody' }],
  };
  const spec: WorkflowSpec = {
    active: true,
    nodes: [
      { id: 'trigger', manual: {} },
      { id: 'a', agent },
    ],
  };
  expect(calleesOf(spec)).toEqual(['b', 'nobody']);
  const others: Record<string, string[]> = { b: ['own'] };
  expect(calleesExist(spec, 'own', (name) => others[name])).toEqual([
    {
      reason: 'WorkflowCycle',
      message:
        'node a: agent.tools[1].workflow: the workflow would run itself without end: own → b → own. Remove one of these nodes or tools',
    },
    {
      reason: 'WorkflowMissing',
      message:
        'node a: agent.tools[2].workflow: there is no workflow nobody in this namespace: apply it, or correct the name',
    },
  ]);
});
