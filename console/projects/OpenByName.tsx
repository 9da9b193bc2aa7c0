/** Opens a project by its name. A project is listed only for people who may list namespaces, or where it holds a workflow. */
import { Button, Group, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState, type SyntheticEvent } from 'react';

/** The form. `onOpen` is called when the project's page is being opened. */
export function OpenByName({ onOpen }: { onOpen?: () => void }) {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const wanted = name.trim().toLowerCase();
  const isName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(wanted);
  const open = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!isName) return;
    onOpen?.();
    void navigate({ to: '/p/$project/workflows', params: { project: wanted } });
  };
  return (
    <form onSubmit={open}>
      <Group gap="xs" align="end">
        <TextInput
          label="Project name"
          description="The name of the namespace"
          placeholder="default"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          spellCheck={false}
          autoCapitalize="none"
          data-autofocus
        />
        <Button type="submit" variant="default" disabled={!isName}>
          Open
        </Button>
      </Group>
    </form>
  );
}
