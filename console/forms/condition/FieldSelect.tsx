/** Chooses a field of an earlier output by its name, with its last value. Other names can be typed. */
import { Group, Select, Text, type ComboboxParsedItem } from '@mantine/core';
import { useMemo, useState, type RefObject } from 'react';
import { useFormScope } from '../scope.ts';
import { meantBy, otherField, typedField, type FieldChoice } from './fields.ts';
import { printField, type Field } from './rows.ts';
import classes from './condition.module.css';

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
      filter={({ options, search }) =>
        matching(options, {
          text: search.trim().toLowerCase(),
          named: typedChoices[0]?.cel,
          meant: meantBy(search.trim(), choices, typedChoices[0]),
        })
      }
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

type Search = { text: string; named: string | undefined; meant: string | undefined };

/** First the field that the text means, so that it is chosen; then those that contain the text. */
function matching(options: readonly ComboboxParsedItem[], search: Search): ComboboxParsedItem[] {
  const { text, named, meant } = search;
  const isMeant = (option: ComboboxParsedItem): boolean =>
    'group' in option ? option.items.some(isMeant) : option.value === meant;
  const found = options.flatMap((option): ComboboxParsedItem[] => {
    if (!('group' in option))
      return option.value === named || option.label.toLowerCase().includes(text) ? [option] : [];
    const items = matching(option.items, search) as typeof option.items;
    return items.length === 0 ? [] : [{ ...option, items }];
  });
  return found.toSorted((one, other) => Number(isMeant(other)) - Number(isMeant(one)));
}

function FieldOption({ choice }: { choice: FieldChoice | undefined }) {
  if (choice === undefined) return null;
  return (
    <Group gap={8} wrap="nowrap" justify="space-between" w="100%">
      <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
        {choice.label}
      </Text>
      <Text size="xs" truncate maw="50%" className={classes['sample'] ?? ''}>
        {choice.sample || choice.type}
      </Text>
    </Group>
  );
}
