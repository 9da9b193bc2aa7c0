/** Chooses the credential of the project that a template uses for one of its own, or creates one. */
import { Button, Select, Stack } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { useMay } from '../kube/access.ts';
import { CREDENTIALS } from '../kube/resources.ts';
import type { KnownCredential } from './create.ts';
import type { Need } from './template.ts';

const CredentialDialog = lazy(async () => ({
  default: (await import('../credentials/CredentialDialogs.tsx')).CredentialDialog,
}));

type Props = {
  project: string;
  need: Need;
  label: string;
  credentials: readonly KnownCredential[];
  value: string | undefined;
  onChange: (name: string | undefined) => void;
};

export function NeedSelect({ project, need: { name, kinds }, label, credentials, value, onChange }: Props) {
  const [isCreating, setCreating] = useState(false);
  const mayCreate = useMay({ verb: 'create', resource: CREDENTIALS, namespace: project });
  const fitting = credentials.filter(({ kind }) => kinds.includes(kind)).map((each) => each.name);
  // One that was just created has no kind before the operator has checked it.
  const options = value === undefined || fitting.includes(value) ? fitting : [value, ...fitting];
  return (
    <Stack gap={4}>
      <Select
        label={label}
        data={options.toSorted()}
        value={value ?? null}
        onChange={(next) => onChange(next ?? undefined)}
        placeholder={options.length === 0 ? 'The project has none' : 'Choose a credential'}
        clearable
      />
      {mayCreate && (
        <Button
          variant="subtle"
          size="compact-xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => setCreating(true)}
          style={{ alignSelf: 'flex-start' }}
          aria-label={`New credential for ${label}`}
        >
          New credential…
        </Button>
      )}
      {isCreating && (
        <Suspense>
          <CredentialDialog
            namespace={project}
            kinds={kinds}
            wantedName={name}
            opened
            onClose={() => setCreating(false)}
            onCreated={onChange}
          />
        </Suspense>
      )}
    </Stack>
  );
}
