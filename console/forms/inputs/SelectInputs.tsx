/** Inputs that choose from known names: models, time zones, skills, keys of Secrets. */
import { Alert, Autocomplete, Fieldset, Group, Select, Text, TextInput } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useObject, useTable } from '../../kube/hooks.ts';
import { CREDENTIALS, SECRETS } from '../../kube/resources.ts';
import { useFormScope, useSiblings } from '../scope.ts';
import { wrapperOf } from './PlainInputs.tsx';
import type { InputProps } from '../props.ts';
import { schemas } from 'windlass:schemas';
import { labelOf } from '../labels.ts';
import { useMay } from '../../kube/access.ts';
import { CopyLine } from '../../ui/copy.tsx';
import { OptionCheck } from '../../ui/OptionCheck.tsx';
import { missingSecret } from '../secrets.ts';
import { valuesOf, withMember } from '../values.ts';

export function ModelInput(props: InputProps<'model'>) {
  const { value, onChange, error, isReadOnly } = props;
  const { namespace } = useFormScope();
  const { credential } = useSiblings();
  const name = typeof credential === 'string' ? credential : '';
  const { data } = useObject(CREDENTIALS, namespace, name, { enabled: name !== '' });
  const models = data?.status?.models ?? [];
  return (
    <Autocomplete
      size="xs"
      {...wrapperOf(props)}
      data={[...models].toSorted()}
      value={typeof value === 'string' ? value : ''}
      onChange={onChange}
      placeholder={models.length > 0 ? 'Choose or enter a model' : 'for example gpt-4o-mini'}
      error={error}
      readOnly={isReadOnly}
      spellCheck={false}
    />
  );
}

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
      renderOption={({ option, checked = false }) => (
        <Group gap={8} wrap="nowrap" w="100%">
          <OptionCheck isChosen={checked} />
          <div>
            <Text size="xs">{option.label}</Text>
            <Text size="xs" c="dimmed">
              {schemas.skills.find(({ name }) => name === option.value)?.description}
            </Text>
          </div>
        </Group>
      )}
    />
  );
}

function unknownSkill(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || schemas.skills.some(({ name }) => name === value))
    return undefined;
  return `Unknown skill ${value}. Choose another one.`;
}

/** A key of a Secret. Names are offered if the user may list Secrets. */
export function SecretRefInput({ field, value, onChange, error, isReadOnly }: InputProps<'secretRef'>) {
  const { namespace } = useFormScope();
  const mayList = useMay({ verb: 'list', resource: SECRETS, namespace });
  const { data } = useTable(SECRETS, namespace, {
    enabled: mayList && !isReadOnly,
    maxPages: 1,
    isWatched: false,
  });
  const names = [...new Set((data?.rows ?? []).map(({ metadata }) => metadata.name))].toSorted();
  const missing = missingSecret(value, data?.more === false ? names : undefined, namespace);
  const { name = '', key = '' } = valuesOf(value) as { name?: string; key?: string };
  const set = (member: string, text: string) => onChange(withMember(valuesOf(value), member, text));
  return (
    <Fieldset p="xs" legend={field.label} aria-label={field.label}>
      {field.help !== undefined && (
        <Text size="xs" c="dimmed" mb={4}>
          {field.help}
        </Text>
      )}
      <Group gap="xs" grow align="flex-start">
        <Autocomplete
          size="xs"
          label="Secret"
          aria-label={`${field.label}: name of the Secret`}
          data={names}
          value={name}
          onChange={(text) => set('name', text)}
          error={error}
          readOnly={isReadOnly}
          spellCheck={false}
        />
        <TextInput
          label="Key"
          aria-label={`${field.label}: key in the Secret`}
          value={key}
          onChange={({ currentTarget }) => set('key', currentTarget.value)}
          readOnly={isReadOnly}
          spellCheck={false}
        />
      </Group>
      {missing !== undefined && (
        <Alert color="yellow" variant="light" mt="xs" p="xs" icon={<IconAlertTriangle />}>
          <Text size="xs" mb={4} style={{ overflowWrap: 'anywhere' }}>
            {missing.message}
          </Text>
          <CopyLine text={missing.command} what="command" />
        </Alert>
      )}
    </Fieldset>
  );
}
