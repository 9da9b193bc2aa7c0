/** Skills that a model may call, each with its credential, description and fixed parameters. */
import { ActionIcon, Button, Group, Input, Paper, Stack, Text } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { schemas } from 'windlass:schemas';
import { fieldsOf, type Field } from '../fields.ts';
import { labelOf } from '../labels.ts';
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
            <Form
              key={titleOf(valuesOf(tool), index)}
              isFlat
              fields={toolFields(valuesOf(tool))}
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

function titleOf({ skill }: Values, index: number): string {
  return typeof skill === 'string' && skill !== '' ? labelOf(skill) : `Tool ${index + 1}`;
}

/** The fields of a tool. Skills without credentials offer none. */
function toolFields({ skill: name }: Values): Field[] {
  const items = schemas.steps['agent']?.properties?.['tools']?.items ?? {};
  const skill = schemas.skills.find((each) => each.name === name);
  return fieldsOf(items, { path: 'tool' }).flatMap((field): Field[] => {
    if (field.name === 'skill') return [{ ...field, editor: { kind: 'skill' } }];
    if (field.name !== 'credential') return [field];
    const kinds = skill?.credentials ?? [];
    if (kinds.length === 0) return [];
    return [
      { ...field, isRequired: skill?.credentialIsOptional !== true, editor: { kind: 'credential', kinds } },
    ];
  });
}
