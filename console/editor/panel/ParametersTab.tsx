/**
 * The parameters of a node: the form of its kind, built from its schema. Also the options that all nodes
 * share.
 */
import { Alert, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { NodeKind, WorkflowNode } from '../../../api/workflow.ts';
import { SchemaForm } from '../../forms/inputs/SchemaForm.tsx';
import { FormContext, useFormScope } from '../../forms/scope.ts';
import { valuesOf, type Values } from '../../forms/values.ts';
import { schemas } from 'windlass:schemas';
import { fieldsOf, type Field } from '../../forms/fields.ts';
import type { SkillSchema } from '../../forms/schemas.ts';
import { isTrigger } from '../../workflows/kinds.ts';

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

/** Another skill has other parameters and usually another account. */
function skillWith(next: Values, before: Values): NonNullable<WorkflowNode['skill']> {
  const name = typeof next['name'] === 'string' ? next['name'] : '';
  if (name === before['name']) return { ...next, name };
  return { name, parameters: {} };
}

/** Fields that no runner executes yet. They are shown only if set, so that they can be removed. */
const NOT_YET = ['forEach', 'tools'];

const NODE_OPTIONS = Object.keys(schemas.nodeOptions);
const OPTIONS = fieldsOf(
  { type: 'object', properties: { ...schemas.stepOptions, ...schemas.nodeOptions } },
  { path: 'options' },
);

const OPTION_NAMES: readonly string[] = OPTIONS.map(({ name }) => name);

/** The options of a step, or those of a trigger. */
function optionFields(given: object, isStep: boolean): Field[] {
  return OPTIONS.filter(({ name }) => isOffered(name, given) && (isStep || NODE_OPTIONS.includes(name)));
}

/** The fields of a kind. Test data has its own tab. */
function kindFields(kind: NodeKind, given: object = {}): Field[] {
  const schema = schemas.triggers[kind] ?? schemas.steps[kind];
  if (schema === undefined) return [];
  return fieldsOf(schema, { path: kind, without: ['testData'] }).filter(({ name }) => isOffered(name, given));
}

function isOffered(name: string, given: object): boolean {
  return !NOT_YET.includes(name) || Object.hasOwn(given, name);
}

/** The skill of a node; undefined if this version does not have it. */
function skillOf(node: WorkflowNode): SkillSchema | undefined {
  return schemas.skills.find(({ name }) => name === node.skill?.name);
}

/** Skill and credential. A skill without credentials has no field for one, unless one is set. */
function skillFields(skill: SkillSchema | undefined, hasCredential: boolean): Field[] {
  return kindFields('skill').flatMap((field): Field[] => {
    if (field.name === 'parameters') return skill === undefined ? [field] : [];
    if (field.name !== 'credential') return [field];
    const kinds = skill?.credentials ?? [];
    if (kinds.length === 0 && !hasCredential) return [];
    const isRequired = kinds.length > 0 && skill?.credentialIsOptional !== true;
    return [{ ...field, isRequired, editor: { kind: 'credential', kinds } }];
  });
}

/** The parameters of a skill. Each may hold references. */
function parameterFields(skill: SkillSchema): Field[] {
  return fieldsOf(skill.parameters, { path: skill.name, isExpression: true });
}

/** The description of the kind in its schema. */
function kindHelp(kind: NodeKind): string | undefined {
  return (schemas.triggers[kind] ?? schemas.steps[kind])?.description;
}

/** The options of a node: retries, timeout, error handling, sensitivity. */
export function OptionsTab({ node, change }: { node: WorkflowNode; change: Change }) {
  const scope = useFormScope();
  const given = node as Values;
  const values = Object.fromEntries(
    OPTION_NAMES.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  );
  const set = (next: Values) =>
    change((old) => {
      const rest = Object.fromEntries(Object.entries(old).filter(([name]) => !OPTION_NAMES.includes(name)));
      return { ...rest, ...next } as WorkflowNode;
    }, 'options');
  // `forEach` cannot refer to its own elements.
  return (
    <FormContext value={{ ...scope, sources: { nodes: scope.sources.nodes } }}>
      <SchemaForm
        isFlat
        fields={optionFields(node, !isTrigger(node))}
        path=""
        values={values}
        onChange={set}
      />
    </FormContext>
  );
}
