/** Skills and workflows that a model may call, each with its description and fixed parameters. */
import { ActionIcon, Button, Group, Input, Paper, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { schemas } from 'windlass:schemas';
import type { Field } from '../fields.ts';
import { labelOf } from '../labels.ts';
import { changeTool, kindOfTool, toolFields } from '../toolFields.ts';
import { valuesOf, type Values } from '../values.ts';
import type { InputProps, SchemaFormProps } from '../props.ts';

type Props = InputProps<'tools'> & { Form: ComponentType<SchemaFormProps> };

export function ToolsInput({ Form, field, path, value, onChange, error, isReadOnly }: Props) {
  const tools: unknown[] = Array.isArray(value) ? value : [];
  return (
    <Input.Wrapper
      size="xs"
      role="group"
      aria-label={field.label}
      label={field.label}
      labelElement="div"
      description={field.help}
      error={error}
    >
      <Stack gap="xs">
        {tools.map((tool, index) => (
          <Paper key={index} withBorder p="xs">
            <Group justify="space-between" mb={4}>
              <Text size="xs" fw={600}>
                {titleOf(valuesOf(tool), index)}
              </Text>
              {!isReadOnly && (
                <ActionIcon
                  size="sm"
                  variant="subtle"
                  color="gray"
                  aria-label={`Remove ${titleOf(valuesOf(tool), index)}`}
                  onClick={() => onChange(tools.toSpliced(index, 1))}
                >
                  <IconTrash size={14} />
                </ActionIcon>
              )}
            </Group>
            <SegmentedControl
              size="xs"
              mb={4}
              aria-label={`${titleOf(valuesOf(tool), index)}: what it calls`}
              data={KINDS}
              value={kindOfTool(valuesOf(tool))}
              readOnly={isReadOnly}
              onChange={(kind) => onChange(tools.with(index, changeTool(kind, valuesOf(tool))))}
            />
            <Form
              key={keyOf(valuesOf(tool))}
              isFlat
              fields={fieldsOfTool(valuesOf(tool))}
              path={`${path}[${index}]`}
              values={valuesOf(tool)}
              onChange={(next) => onChange(tools.with(index, next))}
            />
          </Paper>
        ))}
        {!isReadOnly && (
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconPlus size={14} />}
            onClick={() => onChange([...tools, { skill: '' }])}
            style={{ alignSelf: 'flex-start' }}
          >
            Add tool
          </Button>
        )}
      </Stack>
    </Input.Wrapper>
  );
}

const KINDS = [
  { value: 'skill', label: 'Skill' },
  { value: 'workflow', label: 'Workflow' },
];

/** Another skill has other fields. The name of a workflow is typed in the form. */
function keyOf(values: Values): string {
  return `${kindOfTool(values)} ${String(values['skill'])}`;
}

/** As the model names the tool: several tools may have one skill. */
function titleOf({ name, skill, workflow }: Values, index: number): string {
  if (typeof name === 'string' && name !== '') return name;
  if (typeof workflow === 'string' && workflow !== '') return workflow;
  return typeof skill === 'string' && skill !== '' ? labelOf(skill) : `Tool ${index + 1}`;
}

function fieldsOfTool(values: Values): Field[] {
  const items = schemas.steps['agent']?.properties?.['tools']?.items ?? {};
  return toolFields(
    items,
    values,
    schemas.skills.find(({ name }) => name === values['skill']),
  );
}
