/**
 * The parameters of a node: the form of its kind, built from its schema. Also the options that all nodes
 * share.
 */
import { Alert, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useState } from 'react';
import { schemas } from 'windlass:schemas';
import type { NodeKind, WorkflowNode } from '../../../api/workflow.ts';
import { kindLabel, LOOPS, refusedOptions } from '../../workflows/kinds.ts';
import { kindHelp } from '../../forms/kindHelp.ts';
import { SchemaForm } from '../../forms/inputs/SchemaForm.tsx';
import { useFormScope } from '../../forms/scope.ts';
import { shapesAfter } from '../../forms/shapes.ts';
import { useShapes } from '../../forms/useShapes.ts';
import { formText, valuesOf, type Values } from '../../forms/values.ts';
import { LoopFields, type Change } from './LoopFields.tsx';
import { MemoryHint } from './MemoryHint.tsx';
import { WaitHint } from './WaitHint.tsx';
import { WebhookURL } from './WebhookURL.tsx';
import {
  kindAlternatives,
  kindFields,
  OPTION_NAMES,
  optionFields,
  parameterFields,
  skillFields,
  skillOf,
} from './nodeFields.ts';

type Props = { node: WorkflowNode; kind: NodeKind; change: Change };

export function ParametersTab({ node, kind, change }: Props) {
  const { problems, showsAll } = useFormScope();
  const help = kind === 'skill' ? skillOf(node)?.description : kindHelp(kind, schemas);
  const general = showsAll
    ? problems.filter(({ field }) => ['', kind, 'skill.parameters'].includes(field))
    : [];
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
            {formText(message)}
          </Text>
        </Alert>
      ))}
      {kind === 'webhook' && <WebhookURL />}
      {kind === 'agent' && <MemoryHint id={node.id} change={change} />}
      {kind === 'skill' ? (
        <SkillForm node={node} change={change} />
      ) : (
        <KindForm node={node} kind={kind} change={change} />
      )}
      {node.wait !== undefined && <WaitHint id={node.id} wait={node.wait} />}
    </Stack>
  );
}

function KindForm({ node, kind, change }: Props) {
  if (kind === 'group') return <LoopFields node={node} change={change} />;
  const alternatives = kindAlternatives(kind);
  if (alternatives.length > 0)
    return <AlternativesForm node={node} kind={kind} change={change} names={alternatives} />;
  const set = (values: Values) => change((old) => ({ ...old, [kind]: values }), kind);
  return <SchemaForm fields={kindFields(kind)} path={kind} values={valuesOf(node[kind])} onChange={set} />;
}

/** The form of a kind that has exactly one of several members. */
function AlternativesForm({ node, kind, change, names }: Props & { names: readonly string[] }) {
  const { isReadOnly } = useFormScope();
  const values = valuesOf(node[kind]);
  const fields = kindFields(kind);
  const options = fields.filter(({ name }) => names.includes(name));
  const shapes = useShapes(kind, 'kind');
  const [asked, setAsked] = useState(shapes.get().chosen);
  // Undo and others may give the node another alternative.
  const given = options.find(({ name }) => values[name] !== undefined);
  const chosen = given?.name ?? asked ?? options[0]?.name ?? '';
  const set = (next: Values) => change((old) => ({ ...old, [kind]: next }), kind);
  const choose = (name: string): void => {
    setAsked(name);
    const after = shapesAfter(shapes.get(), { left: chosen, value: values[chosen], chosen: name });
    shapes.keep(after);
    const isObject = options.some((field) => field.name === name && field.editor.kind === 'object');
    const kept = Object.entries(values).filter(([other]) => !names.includes(other));
    const value = after.values[name] ?? (isObject ? {} : undefined);
    set({ ...Object.fromEntries(kept), ...(value !== undefined && { [name]: value }) });
  };
  // The alternative itself has nothing to fill in: its members stand for it.
  const option = options.find(({ name }) => name === chosen);
  const members = option?.editor.kind === 'object' ? option.editor.fields : undefined;
  return (
    <Stack gap="sm">
      <SegmentedControl
        size="xs"
        aria-label={kindLabel(kind)}
        disabled={isReadOnly}
        value={chosen}
        data={options.map(({ name, label }) => ({ value: name, label }))}
        onChange={choose}
      />
      {members !== undefined && (
        <>
          <Text size="xs" c="dimmed">
            {option?.help}
          </Text>
          <SchemaForm
            key={chosen}
            isFlat
            fields={members}
            path={`${kind}.${chosen}`}
            values={valuesOf(values[chosen])}
            onChange={(next) => set({ ...values, [chosen]: next })}
          />
        </>
      )}
      <SchemaForm
        key={chosen}
        isFlat
        fields={fields
          .filter(({ name }) => (name === chosen && members === undefined) || !names.includes(name))
          .map((field) => ({ ...field, isRequired: field.isRequired || field.name === chosen }))}
        path={kind}
        values={values}
        onChange={set}
      />
    </Stack>
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

/** The options of a node: retries, timeout, error handling, sensitivity. */
export function OptionsTab({ node, change }: { node: WorkflowNode; change: Change }) {
  const given = node as Values;
  const values = Object.fromEntries(
    OPTION_NAMES.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  );
  const set = (next: Values) =>
    change((old) => {
      const rest = Object.fromEntries(Object.entries(old).filter(([name]) => !OPTION_NAMES.includes(name)));
      return { ...rest, ...next } as WorkflowNode;
    }, 'options');
  const hasLoop = node.group === undefined && !LOOPS.every((loop) => refusedOptions(node).includes(loop));
  return (
    <Stack gap="sm">
      {hasLoop && <LoopFields node={node} change={change} />}
      <SchemaForm isFlat fields={optionFields(node)} path="" values={values} onChange={set} />
    </Stack>
  );
}
