/** What a node does: the form of its kind, made of its schema. */
import { Alert, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { NodeKind, WorkflowNode } from '../../../api/workflow.ts';
import { SchemaForm } from '../../forms/inputs/SchemaForm.tsx';
import { useFormScope } from '../../forms/scope.ts';
import { valuesOf, type Values } from '../../forms/values.ts';
import { kindFields, kindHelp, parameterFields, skillFields, skillOf } from './nodeFields.ts';

export type Change = (change: (node: WorkflowNode) => WorkflowNode, field: string) => void;

type Props = { node: WorkflowNode; kind: NodeKind; change: Change };

export function ParametersTab({ node, kind, change }: Props) {
  const { problems, showsAll } = useFormScope();
  const help = kind === 'skill' ? skillOf(node)?.description : kindHelp(kind);
  const general = showsAll ? problems.filter(({ field }) => field === '' || field === kind) : [];
  return (
    <Stack gap="sm">
      {help !== undefined && (
        <Text size="xs" c="dimmed">
          {help}
        </Text>
      )}
      {general.map(({ message }) => (
        <Alert key={message} color="red" variant="light" p="xs" icon={<IconAlertTriangle />}>
          <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
            {message}
          </Text>
        </Alert>
      ))}
      {kind === 'skill' ? (
        <SkillForm node={node} change={change} />
      ) : (
        <KindForm node={node} kind={kind} change={change} />
      )}
    </Stack>
  );
}

function KindForm({ node, kind, change }: Props) {
  const set = (values: Values) => change((old) => ({ ...old, [kind]: values }), kind);
  return (
    <SchemaForm
      fields={kindFields(kind, valuesOf(node[kind]))}
      path={kind}
      values={valuesOf(node[kind])}
      onChange={set}
    />
  );
}

function SkillForm({ node, change }: Omit<Props, 'kind'>) {
  const skill = skillOf(node);
  const values = valuesOf(node.skill);
  const set = (next: Values) => change((old) => ({ ...old, skill: skillWith(next, values) }), 'skill');
  const setParameters = (parameters: Values) =>
    change(
      (old) => ({ ...old, skill: { ...old.skill, name: old.skill?.name ?? '', parameters } }),
      'skill.parameters',
    );
  return (
    <>
      <SchemaForm
        key={`${skill?.name} of`}
        isFlat
        fields={skillFields(skill, values['credential'] !== undefined)}
        path="skill"
        values={values}
        onChange={set}
      />
      {skill !== undefined && (
        <SchemaForm
          key={skill.name}
          fields={parameterFields(skill)}
          path="skill.parameters"
          values={valuesOf(values['parameters'])}
          onChange={setParameters}
        />
      )}
    </>
  );
}

/** Another skill has other parameters and, as a rule, another account. */
function skillWith(next: Values, before: Values): NonNullable<WorkflowNode['skill']> {
  const name = typeof next['name'] === 'string' ? next['name'] : '';
  if (name === before['name']) return { ...next, name };
  return { name, parameters: {} };
}
