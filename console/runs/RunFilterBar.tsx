/** The filters above a list of runs. */
import { Button, Group, Pill, Select, TextInput } from '@mantine/core';
import { IconFilterOff, IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import classes from '../ui/filters.module.css';
import { SearchKey } from '../ui/SearchKey.tsx';
import { usePageKey } from '../ui/usePageKey.ts';
import { RUN_PHASES } from '../../api/phase.ts';
import { triggerLabel } from '../workflows/triggers.ts';
import { isFiltered, isSearched, runFilters, type RunFilters } from './filters.ts';

type Props = {
  filters: RunFilters;
  onChange: (filters: RunFilters) => void;
  /** The workflows to choose from; undefined: all runs are of one workflow. */
  workflows?: string[];
  /** The display names of workflows. */
  titles?: ReadonlyMap<string, string> | undefined;
  triggers: string[];
};

const SPANS = [
  { value: 'hour', label: 'Last hour' },
  { value: 'day', label: 'Last day' },
  { value: 'week', label: 'Last week' },
];
const TESTS = [
  { value: 'none', label: 'Live runs only' },
  { value: 'only', label: 'Test runs only' },
];
/** The choice without a filter. No name of an object has a space. */
const ANY = ' any';
const REMOVE = { 'aria-label': 'Show all runs', 'aria-hidden': false, tabIndex: 0 };
const TYPING_MS = 250;

export function RunFilterBar({ filters, onChange, workflows, titles, triggers }: Props) {
  // Empty filters are removed, also from the URL.
  const change = (name: keyof RunFilters, value: string | null): void =>
    onChange(runFilters({ ...filters, [name]: value ?? undefined }));
  return (
    <Group gap={8} wrap="wrap" className={classes['filters'] ?? ''}>
      <SearchField
        text={filters.text ?? ''}
        onChange={(text) => change('text', text)}
        hasKey={workflows !== undefined}
      />
      <Choice
        label="Status"
        any="Any status"
        data={[...RUN_PHASES]}
        value={filters.phase}
        onChange={(value) => change('phase', value)}
      />
      {workflows !== undefined && (
        <Choice
          label="Workflow"
          any="Any workflow"
          data={workflows
            .map((name) => ({ value: name, label: titles?.get(name) ?? name }))
            .toSorted((one, other) => one.label.localeCompare(other.label))}
          value={filters.workflow}
          onChange={(value) => change('workflow', value)}
          width={170}
        />
      )}
      <Choice
        label="Trigger"
        any="Any trigger"
        data={triggers.map((kind) => ({ value: kind, label: triggerLabel(kind) }))}
        value={filters.trigger}
        onChange={(value) => change('trigger', value)}
      />
      <Choice
        label="Received"
        any="Any time"
        data={SPANS}
        value={filters.within}
        onChange={(value) => change('within', value)}
      />
      <Choice
        label="Test runs"
        any="Including test runs"
        width={172}
        data={TESTS}
        value={filters.test}
        onChange={(value) => change('test', value)}
      />
      {filters.parent !== undefined && (
        <Pill withRemoveButton size="md" onRemove={() => change('parent', null)} removeButtonProps={REMOVE}>
          Child runs of {filters.parent}
        </Pill>
      )}
      {isFiltered(filters) && (
        <Button
          variant="subtle"
          px={6}
          // On a narrow screen it is as wide as its column.
          justify="flex-start"
          leftSection={<IconFilterOff size={14} />}
          onClick={() => onChange({})}
        >
          {isSearched(filters) ? 'Clear search' : 'Clear filters'}
        </Button>
      )}
    </Group>
  );
}

type ChoiceProps = {
  label: string;
  /** The choice without a filter. */
  any: string;
  data: string[] | { value: string; label: string }[];
  value: string | undefined;
  onChange: (value: string | null) => void;
  width?: number;
};

function Choice({ label, any, data, value, onChange, width = 132 }: ChoiceProps) {
  const options = data.map((each) => (typeof each === 'string' ? { value: each, label: each } : each));
  return (
    <Select
      aria-label={label}
      data={[{ value: ANY, label: any }, ...options]}
      value={value ?? ANY}
      onChange={(chosen) => onChange(chosen === ANY ? null : chosen)}
      searchable={data.length > 8}
      // What is typed replaces the present choice.
      {...(data.length > 8 && { onClick: (event) => event.currentTarget.select() })}
      w={width}
    />
  );
}

/** `hasKey`: the key of the page leads to it, which a drawer does not have. */
type SearchProps = { text: string; onChange: (text: string) => void; hasKey: boolean };

/** Searches when the user pauses typing. */
function SearchField({ text, onChange, hasKey }: SearchProps) {
  const [typed, setTyped] = useState(text);
  const field = useRef<HTMLInputElement>(null);
  usePageKey('/', () => hasKey && field.current?.focus());
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    if (typed === text) return undefined;
    const timer = setTimeout(() => onChange(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <TextInput
      ref={field}
      type="search"
      // Escape clears the field first. It closes the drawer around it only if the field is empty.
      data-mantine-stop-propagation={typed !== ''}
      aria-label="Search runs"
      placeholder="Search"
      leftSection={<IconSearch size={14} />}
      rightSection={hasKey && typed === '' ? <SearchKey /> : undefined}
      rightSectionPointerEvents="none"
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      w={156}
    />
  );
}
