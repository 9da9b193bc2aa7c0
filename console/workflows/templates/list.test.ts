import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { kindOf, workflowSpec, type WorkflowSpec } from '../../../api/workflow.ts';
import { TEMPLATES } from './list.ts';

const credentialsOf = ({ nodes }: WorkflowSpec) =>
  nodes.flatMap((node) => {
    const fields: unknown = node[kindOf(node)];
    return typeof fields === 'object' && fields !== null && 'credential' in fields ? [fields.credential] : [];
  });

test.each(TEMPLATES.map((template) => [template.id, template] as const))(
  'the template %s is a valid inactive workflow with test data',
  (_id, { spec, trigger, needs }) => {
    expect(workflowSpec.safeParse(spec)).toMatchObject({ success: true });
    expect(spec.active).toBe(false);
    const [first] = spec.nodes;
    expect(first && kindOf(first)).toBe(trigger);
    expect(first?.[trigger]).toHaveProperty('testData');
    expect(new Set(needs.map(({ name }) => name))).toEqual(new Set(credentialsOf(spec)));
  },
);

test.each(
  TEMPLATES.filter(({ id }) => id !== 'ask-an-api').map((template) => [template.id, template] as const),
)('the template %s has the nodes of its example', (id, { spec }) => {
  const file = join(import.meta.dirname, '../../../examples', id, 'workflow.yaml');
  const example = parse(readFileSync(file, 'utf8')) as { spec: WorkflowSpec };
  const shape = ({ nodes }: WorkflowSpec) => nodes.map((node) => [node.id, kindOf(node), node.skill?.name]);
  expect(shape(spec)).toEqual(shape(example.spec));
  expect(spec.displayName).toBe(example.spec.displayName);
});
