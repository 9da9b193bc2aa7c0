/** Which skill: by name, with what it does. */
import { Select, Text } from '@mantine/core';
import { schemas } from 'windlass:schemas';
import { labelOf } from '../labels.ts';
import { wrapperOf } from './PlainInputs.tsx';
import type { InputProps } from '../props.ts';

export function SkillInput(props: InputProps<'skill'>) {
  const { value, onChange, error, isReadOnly } = props;
  return (
    <Select
      {...wrapperOf(props)}
      data={schemas.skills.map(({ name }) => ({ value: name, label: labelOf(name) }))}
      value={typeof value === 'string' && value !== '' ? value : null}
      onChange={(name) => name !== null && onChange(name)}
      placeholder="Choose a skill"
      searchable
      allowDeselect={false}
      readOnly={isReadOnly}
      error={error ?? unknownSkill(value)}
      renderOption={({ option }) => (
        <div>
          <Text size="xs">{option.label}</Text>
          <Text size="xs" c="dimmed">
            {schemas.skills.find(({ name }) => name === option.value)?.description}
          </Text>
        </div>
      )}
    />
  );
}

function unknownSkill(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || schemas.skills.some(({ name }) => name === value))
    return undefined;
  return `Unknown skill ${value}. Choose another one.`;
}
