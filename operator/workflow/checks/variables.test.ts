import { expect, test } from 'vitest';
import type { Variables } from '../../../api/expression/variables.ts';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { agent, good, mail, shape, spec, webhook } from '../../../test/support/operator/workflowSpecs.ts';
import { validate } from '../validate.ts';

test('variables must exist, unless they are tested or have a default', () => {
  const nodes = [
    webhook,
    agent("{{ $vars.tone }} {{ $vars.name ?? 'Ada' }} {{ $vars['limits.json'].max }}"),
    shape({ a: 'vars.url', b: 'has(vars.c) ? vars.c : vars.?d.orValue("")' }),
    mail(good),
  ];
  const edges = [
    { from: 'trigger', to: 'agent_1' },
    { from: 'agent_1', to: 'shape' },
    { from: 'shape', to: 'mail', when: 'vars.on == "yes"' },
  ];
  const values = { tone: 'kind', 'limits.json': { max: 1 }, url: 'x', on: 'yes' };
  const reasons = (variables: Variables) =>
    validate(spec(nodes, edges), { variables }).map(({ reason, message }) => `${reason} ${message}`);
  expect(reasons({ values, invalid: [] })).toEqual([]);
  expect(reasons({ values: { tone: 'kind' }, invalid: ['limits.json'] })).toEqual([
    'VariableInvalid node agent_1: agent.prompt: the value of the variable limits.json is not JSON as an event may have it: correct it in the ConfigMap windlass-variables',
    'VariableMissing node shape: skill.parameters: the variable url does not exist: add the key to the ConfigMap windlass-variables, or write a default',
    'VariableMissing edge shape → mail: when: the variable on does not exist: add the key to the ConfigMap windlass-variables, or write a default',
  ]);
  expect(reasons({ values: {}, invalid: [], isTooLarge: true })).toEqual([
    'VariablesTooLarge the ConfigMap windlass-variables is larger than 64 KiB, so that runs keep the values from before: make it smaller',
  ]);
  expect(
    validate(spec([webhook, agent('Hi')]), { variables: { values: {}, invalid: [], isTooLarge: true } }),
  ).toEqual([]);
});

test('variables that code reads must exist, unless it tests them', () => {
  const code = (source: string): WorkflowNode => ({ id: 'code', code: { source } });
  const reasons = (source: string, variables: Variables) =>
    validate(spec([webhook, code(source)]), { variables }).map(
      ({ reason, message }) => `${reason} ${message}`,
    );
  const source = "const url = vars.url;\nreturn [url, vars['limits.json'].max, vars.tone ?? 'kind'];";
  expect(reasons(source, { values: { url: 'x', 'limits.json': {} }, invalid: [] })).toEqual([]);
  expect(reasons(source, { values: {}, invalid: ['limits.json'] })).toEqual([
    'VariableMissing node code: code.source: line 1, column 13: the variable url does not exist: add the key to the ConfigMap windlass-variables, or write a default',
    'VariableInvalid node code: code.source: line 2, column 14: the value of the variable limits.json is not JSON as an event may have it: correct it in the ConfigMap windlass-variables',
  ]);
});
