/** A key of a Secret. Names are offered where the person may list Secrets; else they are written. */
import { Autocomplete, Fieldset, Group, Text, TextInput } from '@mantine/core';
import { useMay } from '../../kube/access.ts';
import { useTable } from '../../kube/hooks.ts';
import { SECRETS } from '../../kube/resources.ts';
import { useFormScope } from '../scope.ts';
import { valuesOf, withMember } from '../values.ts';
import type { InputProps } from '../props.ts';

export function SecretRefInput({ field, value, onChange, error, isReadOnly }: InputProps<'secretRef'>) {
  const { namespace } = useFormScope();
  const mayList = useMay({ verb: 'list', resource: SECRETS, namespace });
  const { data } = useTable(SECRETS, namespace, { enabled: mayList && !isReadOnly, maxPages: 1 });
  const names = [...new Set((data?.rows ?? []).map(({ metadata }) => metadata.name))].toSorted();
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
    </Fieldset>
  );
}
