import { expect, test } from 'vitest';
import { choiceKey, showsSteps, stepsDone, type Choice, type Step } from './gettingStarted.ts';

const inactive = { active: false };
const active = { active: true };
const ran = { active: false, lastRun: '2026-01-05T09:30:00Z' };

test.each<[string, Parameters<typeof stepsDone>[0], Step[]]>([
  ['an empty project', { credentials: 0, items: [], hasRun: false }, []],
  ['a credential', { credentials: 1, items: [], hasRun: false }, ['credential']],
  ['a workflow of a template', { credentials: 0, items: [inactive], hasRun: false }, ['credential']],
  [
    'an active workflow',
    { credentials: 0, items: [inactive, active], hasRun: false },
    ['credential', 'workflow'],
  ],
  ['a test run', { credentials: 1, items: [inactive], hasRun: true }, ['credential', 'run']],
  ['a run whose record was pruned', { credentials: 1, items: [ran], hasRun: false }, ['credential', 'run']],
])('%s ticks its steps', (_what, existing, done) => {
  expect([...stepsDone(existing)]).toEqual(done);
});

const all = new Set<Step>(['credential', 'workflow', 'run']);

test.each<[string, Choice, ReadonlySet<Step>, boolean]>([
  ['shown while a step is left', '', new Set<Step>(['credential']), true],
  ['not shown when all are done', '', all, false],
  ['not shown after they were dismissed', 'dismissed', new Set(), false],
  ['shown again on request, also when all are done', 'shown', all, true],
])('the steps are %s', (_what, choice, done, isShown) => {
  expect(showsSteps(choice, done)).toBe(isShown);
});

test('each user has a choice in each project', () => {
  expect(new Set([choiceKey('a', 'x'), choiceKey('b', 'x'), choiceKey('a', 'y')]).size).toBe(3);
});
