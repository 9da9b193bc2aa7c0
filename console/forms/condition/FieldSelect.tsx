/** Chooses a field of an earlier output by its name, with its last value. Other names can be typed. */
import { Badge, Group, Select, Text, type ComboboxParsedItem } from '@mantine/core';
import { useMemo, useState, type KeyboardEvent, type RefObject } from 'react';
import { FITTING, FITTING_HEIGHT } from '../../ui/fitting.ts';
import { OptionCheck } from '../../ui/OptionCheck.tsx';
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
  const chosen = all.get(cel ?? '');
  // A list that was only opened has nothing to choose: Enter and leaving the field keep the chosen field.
  const kept = chosen === undefined ? '' : nameOf(chosen);
  const isTyped = typed.trim() !== '' && typed !== kept;
  // The input shows the chosen field again once it is left: what it took away would go unnoticed.
  const [refused, setRefused] = useState<string>();
  const isKnown = (text: string): boolean =>
    typedChoices.length > 0 ||
    [...all.values()].some((choice) => nameOf(choice).toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <Select
      size="xs"
      aria-label={label}
      placeholder="Choose or type a field, such as customer.name"
      searchable
      // Enter and leaving the field keep what was typed.
      selectFirstOptionOnChange={isTyped}
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
      maxDropdownHeight={FITTING_HEIGHT}
      comboboxProps={{ middlewares: FITTING }}
      value={cel}
      searchValue={typed}
      onSearchChange={(next) => {
        setTyped(next);
        if (next !== kept) setRefused(undefined);
      }}
      onBlur={() => setRefused(isTyped && !isKnown(typed) ? typed.trim() : undefined)}
      error={refused !== undefined && refusalOf(refused, kept)}
      onKeyDownCapture={chooseHighlighted}
      data={[...Map.groupBy(all.values(), ({ node }) => node)].map(([group, items]) => ({
        group,
        items: items.map((item) => ({ value: item.cel, label: nameOf(item) })),
      }))}
      renderOption={({ option, checked = false }) => (
        <FieldOption choice={all.get(option.value)} isChosen={checked} />
      )}
      onChange={(next) => {
        const choice = all.get(next ?? '');
        if (choice !== undefined) onChange(choice);
      }}
    />
  );
}

/** As much of it is repeated. */
const LONGEST_REFUSED = 60;

function refusalOf(text: string, kept: string): string {
  const short = text.length > LONGEST_REFUSED ? `${text.slice(0, LONGEST_REFUSED)}…` : text;
  return `“${short}” is not a field.${kept === '' ? '' : ` Still chosen: ${kept}.`}`;
}

function nameOf({ node, label }: FieldChoice): string {
  return `${node}: ${label}`;
}

/**
 * Enter chooses what is highlighted. Mantine counts which option that is, and miscounts where the text came
 * together with the focus.
 */
function chooseHighlighted(event: KeyboardEvent<HTMLInputElement>): void {
  if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
  const list = document.getElementById(event.currentTarget.getAttribute('aria-controls') ?? '');
  const highlighted = list?.querySelector<HTMLElement>('[data-combobox-selected]');
  if (!highlighted) return;
  event.preventDefault();
  event.stopPropagation();
  highlighted.click();
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

type OptionProps = { choice: FieldChoice | undefined; isChosen: boolean };

/** The field with its last value, or with its type where there is no value to show. */
function FieldOption({ choice, isChosen }: OptionProps) {
  if (choice === undefined) return null;
  const { label, sample, type } = choice;
  return (
    <Group gap={8} wrap="nowrap" w="100%">
      <OptionCheck isChosen={isChosen} />
      <Text size="xs" flex={1} style={{ overflowWrap: 'anywhere' }}>
        {label}
      </Text>
      {sample === '' && type !== undefined ? (
        <Badge size="xs" variant="default" tt="none" fw={400} style={{ flexShrink: 0 }}>
          {type}
        </Badge>
      ) : (
        <Text size="xs" truncate maw="50%" className={classes['sample'] ?? ''}>
          {sample}
        </Text>
      )}
    </Group>
  );
}
