/** Search and filters of the workflow list. */
import { Group, Select, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useMemo, type RefObject } from 'react';
import { FITTING, FITTING_HEIGHT } from '../ui/fitting.ts';
import { SearchKey } from '../ui/SearchKey.tsx';
import type { Filter, StateKind, WorkflowItem } from './items.ts';
import { ANY_LABEL, labelsIn } from './labels.ts';
import { TRIGGERS } from './triggers.ts';
import classes from '../ui/filters.module.css';

type Props = {
  items: WorkflowItem[];
  filter: Filter;
  onFilter: (filter: Filter) => void;
  search: RefObject<HTMLInputElement | null>;
};

const STATES: { value: StateKind | 'all'; label: string }[] = [
  { value: 'all', label: 'Any status' },
  { value: 'ready', label: 'Ready' },
  { value: 'attention', label: 'Needs attention' },
  { value: 'waiting', label: 'Not ready yet' },
  { value: 'suspended', label: 'Suspended' },
  { value: 'inactive', label: 'Inactive' },
];

const ACTIVE: { value: Filter['active']; label: string }[] = [
  { value: 'all', label: 'Active and inactive' },
  { value: 'on', label: 'Active only' },
  { value: 'off', label: 'Inactive only' },
];

export function Toolbar({ items, filter, onFilter, search }: Props) {
  const kinds = new Set(items.map(({ trigger }) => trigger));
  const used = useMemo(() => labelsIn(items), [items]);
  // The chosen one stays, also when its last workflow is gone.
  const labels = filter.label === ANY_LABEL || used.includes(filter.label) ? used : [...used, filter.label];
  const triggers = TRIGGERS.filter(({ kind }) => kinds.has(kind) || kind === filter.trigger);
  return (
    <Group gap="xs" className={classes['filters'] ?? ''}>
      <TextInput
        className={classes['wide'] ?? ''}
        ref={search}
        type="search"
        aria-label="Search workflows"
        placeholder="Search"
        leftSection={<IconSearch size={14} />}
        rightSection={filter.text === '' ? <SearchKey /> : undefined}
        rightSectionPointerEvents="none"
        value={filter.text}
        onChange={(event) => onFilter({ ...filter, text: event.currentTarget.value })}
        w={{ base: '100%', xs: 240 }}
      />
      <Select
        aria-label="Status"
        data={STATES}
        value={filter.state}
        allowDeselect={false}
        onChange={(state) => onFilter({ ...filter, state: state ?? 'all' })}
        w={145}
      />
      <Select
        aria-label="Trigger"
        data={[
          { value: 'all' as const, label: 'Any trigger' },
          ...triggers.map(({ kind, label }) => ({ value: kind, label })),
        ]}
        value={filter.trigger}
        allowDeselect={false}
        onChange={(trigger) => onFilter({ ...filter, trigger: trigger ?? 'all' })}
        w={130}
      />
      <Select
        aria-label="Active"
        data={ACTIVE}
        value={filter.active}
        allowDeselect={false}
        onChange={(active) => onFilter({ ...filter, active: active ?? 'all' })}
        w={170}
      />
      {labels.length > 0 && (
        <Select
          aria-label="Label"
          data={[{ value: ANY_LABEL, label: 'Any label' }, ...labels]}
          value={filter.label}
          allowDeselect={false}
          searchable
          maxDropdownHeight={FITTING_HEIGHT}
          comboboxProps={{ middlewares: FITTING, width: 300, position: 'bottom-start', shadow: 'md' }}
          nothingFoundMessage="No workflow has this label"
          onChange={(label) => onFilter({ ...filter, label: label ?? ANY_LABEL })}
          w={190}
        />
      )}
    </Group>
  );
}
