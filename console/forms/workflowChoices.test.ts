import { expect, test } from 'vitest';
import { matchingWorkflows, workflowChoices } from './workflowChoices.ts';

const known = { own: 'support', chosen: undefined, isWhole: true, hasFailed: false };

test('all other workflows of the project are offered, sorted', () =>
  expect(workflowChoices(['support', 'refund', 'article'], known)).toEqual({
    options: ['article', 'refund'],
    placeholder: 'Choose a workflow',
    problem: undefined,
    isEmpty: false,
  }));

test.each([
  ['are loading', [], { isWhole: false }, 'Loading…', false],
  ['cannot be listed', [], { isWhole: false, hasFailed: true }, 'The workflows could not be listed', false],
  ['do not exist', ['support'], {}, 'No other workflow yet', true],
])('the choice says that workflows %s', (_what, names, state, placeholder, isEmpty) =>
  expect(workflowChoices(names, { ...known, ...state })).toMatchObject({ placeholder, isEmpty }),
);

test('a chosen workflow stays chosen, and is a problem if it does not exist or is the workflow itself', () => {
  const chosen = (name: string, isWhole = true) =>
    workflowChoices(['support', 'refund'], { ...known, isWhole, chosen: name });
  expect(chosen('refund').problem).toBeUndefined();
  expect(chosen('gone')).toMatchObject({
    options: ['gone', 'refund'],
    problem: 'Workflow gone does not exist in this project. Create it or choose another one.',
  });
  expect(chosen('gone', false).problem).toBeUndefined();
  expect(chosen('support').problem).toBe('A workflow cannot run itself. Choose another one.');
});

test('workflows are found by their name and by their display name', () => {
  const titles = new Map([
    ['article', 'Find an article'],
    ['stock-check', 'Check the stock'],
    ['receipt', undefined],
  ]);
  const found = (text: string) => matchingWorkflows([...titles.keys()], titles, text);
  expect(found('find')).toEqual(['article']);
  expect(found(' Stock')).toEqual(['stock-check']);
  expect(found('RECEIPT')).toEqual(['receipt']);
  expect(found('')).toEqual(['article', 'stock-check', 'receipt']);
  expect(found('invoice')).toEqual([]);
});
