/** Chooses a field of an earlier output by its name, with its last value. Other names can be typed. */
import { Group, Select, Text, type ComboboxParsedItem } from '@mantine/core';
import { useMemo, useState, type RefObject } from 'react';
import { useFormScope } from '../scope.ts';
import { otherField, typedField, type FieldChoice } from './fields.ts';
import { printField, type Field } from './rows.ts';

type Props = {
  label: string;
  field: Field | undefined;
  choices: readonly FieldChoice[];
  onChange: (choice: FieldChoice) => void;
  /** Gets the input, to focus it. */
  input?: RefObject<HTMLInputElement | null>;
};

export function FieldSelect({ label, field, choices, onChange, input }: Props) {
  const { isReadOnly, sources } = useFormScope();
  const [typed, setTyped] = useState('');
  const cel = field === undefined ? null : printField(field);
  const typedChoices = useMemo(() => typedField(typed, sources), [typed, sources]);
  const all = useMemo(() => {
    const others = [...(field === undefined ? [] : [otherField(field, sources)]), ...typedChoices];
    const known = new Set(choices.map((choice) => choice.cel));
    return new Map(
      [...choices, ...others.filter((other) => !known.has(other.cel))].map((choice) => [choice.cel, choice]),
    );
  }, [choices, cel, typedChoices, sources]);
  return (
    <Select
      size="xs"
      aria-label={label}
      placeholder="Choose a field, or type its name"
      searchable
      // Enter and leaving the field keep what was typed.
      selectFirstOptionOnChange
      autoSelectOnBlur
      filter={({ options, search }) => matching(options, search, typedChoices[0]?.cel)}
      {...(input && { ref: input })}
      allowDeselect={false}
      readOnly={isReadOnly}
      nothingFoundMessage="No field has this name."
      maxDropdownHeight={320}
      value={cel}
      searchValue={typed}
      onSearchChange={setTyped}
      data={[...Map.groupBy(all.values(), ({ node }) => node)].map(([group, items]) => ({
        group,
        items: items.map((item) => ({ value: item.cel, label: `${item.node}: ${item.label}` })),
      }))}
      renderOption={({ option }) => <FieldOption choice={all.get(option.value)} />}
      onChange={(next) => {
        const choice = all.get(next ?? '');
        if (choice !== undefined) onChange(choice);
      }}
    />
  );
}

/** First the field that the text itself names, so that it is chosen; then those that contain the text. */
function matching(
  options: readonly ComboboxParsedItem[],
  search: string,
  named: string | undefined,
): ComboboxParsedItem[] {
  const text = search.trim().toLowerCase();
  const isNamed = (option: ComboboxParsedItem): boolean =>
    'group' in option ? option.items.some(isNamed) : option.value === named;
  const found = options.flatMap((option): ComboboxParsedItem[] => {
    if (!('group' in option))
      return isNamed(option) || option.label.toLowerCase().includes(text) ? [option] : [];
    const items = matching(option.items, search, named) as typeof option.items;
    return items.length === 0 ? [] : [{ ...option, items }];
  });
  return found.toSorted((one, other) => Number(isNamed(other)) - Number(isNamed(one)));
}

function FieldOption({ choice }: { choice: FieldChoice | undefined }) {
  if (choice === undefined) return null;
  return (
    <Group gap={8} wrap="nowrap" justify="space-between" w="100%">
      <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
        {choice.label}
      </Text>
      <Text size="xs" c="dimmed" truncate maw="50%">
        {choice.sample || choice.type}
      </Text>
    </Group>
  );
}
