/** A form for an object, made of its fields: required ones and those that have a value first, the rest under "More options". */
import { Button, Collapse, Stack } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useState } from 'react';
import { FieldInput } from './FieldInput.tsx';
import type { Field } from './fields.ts';
import { SiblingsContext, useFormScope } from './scope.ts';
import { problemsAt, withMember, type Values } from './values.ts';

type Props = {
  fields: Field[];
  /** Where the object is below its node, such as `skill.parameters`. */
  path: string;
  values: Values;
  onChange: (values: Values) => void;
  /** All fields are shown at once. */
  isFlat?: boolean;
};

/** So few optional fields are shown at once. */
const FEW = 2;

export function SchemaForm({ fields, path, values, onChange, isFlat = false }: Props) {
  const { problems } = useFormScope();
  const [isOpen, setOpen] = useState(false);
  // Decided once: a field does not leave its place while somebody writes in it.
  const [given] = useState(() => new Set(Object.keys(values)));
  const optional = fields.filter(({ isRequired }) => !isRequired);
  const isShown = ({ name, isRequired }: Field) =>
    isFlat ||
    isRequired ||
    given.has(name) ||
    optional.length <= FEW ||
    problemsAt(problems, `${path}.${name}`, true).length > 0;
  const input = (field: Field) => (
    <FieldInput
      key={field.name}
      field={field}
      path={path === '' ? field.name : `${path}.${field.name}`}
      value={values[field.name]}
      onChange={(value) => onChange(withMember(values, field.name, value))}
    />
  );
  const rest = fields.filter((field) => !isShown(field));
  return (
    <SiblingsContext value={values}>
      <Stack gap="sm">
        {fields.filter(isShown).map(input)}
        {rest.length > 0 && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            aria-expanded={isOpen}
            leftSection={isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
            onClick={() => setOpen(!isOpen)}
            style={{ alignSelf: 'flex-start' }}
          >
            More options ({rest.length})
          </Button>
        )}
        <Collapse expanded={isOpen}>
          <Stack gap="sm">{isOpen && rest.map(input)}</Stack>
        </Collapse>
      </Stack>
    </SiblingsContext>
  );
}
