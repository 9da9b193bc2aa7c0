import { expect, test } from 'vitest';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { startedAgentsHaveBudgets } from './startedWorkflows.ts';

const run = (name: string) => ({ id: `run_${name}`, workflow: { name } });
const agent = { id: 'a', agent: { credential: 'llm', model: 'm', prompt: 'p' } };
const toolOf = (name: string) => ({ id: 'a', agent: { ...agent.agent, tools: [{ workflow: name }] } });
const spec = (nodes: object[], more: object = {}) => ({ nodes, ...more }) as unknown as WorkflowSpec;
const day = { budget: { day: { tokens: 1_000 } } };
const chat = (steps: object[], access = 'Public', more: object = {}) =>
  spec([{ id: 'trigger', chat: { access } }, ...steps], { ...day, ...more });

test.each<[what: string, own: WorkflowSpec, others: Record<string, WorkflowSpec>, missing: string[]]>([
  ['without an agent', chat([run('b')]), { b: spec([]) }, []],
  ['with an agent that has a daily budget', chat([run('b')]), { b: spec([agent], day) }, []],
  ['of a chat with a token', chat([run('b')], 'Token'), { b: spec([agent]) }, []],
  ['that does not exist', chat([run('b')]), {}, []],
  ['with an agent that has none', chat([run('b')]), { b: spec([agent]) }, ['b']],
  ['with a budget of the run alone', chat([run('b')]), { b: spec([agent], { budget: { run: {} } }) }, ['b']],
  ['that a tool runs', chat([toolOf('b')]), { b: spec([agent]) }, ['b']],
  ['below another one', chat([run('b')]), { b: spec([run('c')]), c: spec([agent]) }, ['c']],
  ['in a cycle', chat([run('b')]), { b: spec([run('own'), run('b'), agent]) }, ['b']],
  [
    'that starts after a failure',
    chat([agent], 'Public', { onFailure: { workflow: 'b' } }),
    { b: spec([agent]) },
    ['b'],
  ],
])('a workflow %s that a public chat starts', (_what, own, others, missing) => {
  const found = startedAgentsHaveBudgets(own, 'own', (name) => others[name]);
  expect(found.map(({ message }) => /workflow (\w+) by a message/.exec(message)?.[1])).toEqual(missing);
  expect(found.every(({ reason, trigger }) => reason === 'BudgetMissing' && trigger)).toBe(true);
});
