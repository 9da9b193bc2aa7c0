/** An IANA time zone. */
import { Select } from '@mantine/core';
import { wrapperOf } from './PlainInputs.tsx';
import type { InputProps } from '../props.ts';

const ZONES = [
  ...new Set([
    'UTC',
    Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...Intl.supportedValuesOf('timeZone'),
  ]),
];

export function TimeZoneInput(props: InputProps<'timeZone'>) {
  const { field, value, onChange, error, isReadOnly } = props;
  const chosen = typeof value === 'string' && value !== '' ? value : null;
  return (
    <Select
      {...wrapperOf(props)}
      data={chosen === null || ZONES.includes(chosen) ? ZONES : [chosen, ...ZONES]}
      value={chosen}
      onChange={(zone) => onChange(zone ?? undefined)}
      placeholder={field.placeholder ?? 'UTC'}
      searchable
      limit={80}
      clearable={!isReadOnly}
      nothingFoundMessage="No time zone matches. Search for a large city near you."
      error={error}
      readOnly={isReadOnly}
    />
  );
}
