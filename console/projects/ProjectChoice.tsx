/** The project switcher, with a form to open projects that are not listed. */
import { Button, Group, Modal, Select, Text, TextInput, type OptionsFilter } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type SyntheticEvent } from 'react';
import { projectsQuery } from './projects.ts';
import classes from './projects.module.css';

/** No namespace can have this name. */
const ANOTHER = { value: '…', label: 'Open another project…' };

export function ProjectChoice({ project }: { project: string }) {
  const { data: projects = [] } = useQuery(projectsQuery);
  const [isNaming, setNaming] = useState(false);
  const navigate = useNavigate();
  const names = projects.map(({ name }) => name);
  const listed = names.includes(project) ? names : [project, ...names];
  return (
    <>
      <Select
        aria-label="Project"
        data={[...listed.map((name) => ({ value: name, label: name })), ANOTHER]}
        value={project}
        onChange={(name) => {
          if (name === ANOTHER.value) setNaming(true);
          else if (name !== null) void navigate({ to: '/p/$project/workflows', params: { project: name } });
        }}
        allowDeselect={false}
        searchable={listed.length > 8}
        filter={matching}
        classNames={{ option: classes['option'] ?? '', dropdown: classes['list'] ?? '' }}
        // Not in a portal, so that it belongs to the header. Names may be wider than the field.
        comboboxProps={{ withinPortal: false, width: 'max-content', position: 'bottom-start', shadow: 'md' }}
        maxDropdownHeight="min(60vh, 400px)"
        w={{ base: 130, xs: 180 }}
        miw={72}
      />
      <Modal opened={isNaming} onClose={() => setNaming(false)} title="Open another project">
        <AnotherHint />
        <OpenByName onClose={() => setNaming(false)} />
      </Modal>
    </>
  );
}

/** Why a project may have to be opened by its name. */
export function AnotherHint() {
  return (
    <Text size="sm" mb="sm">
      Projects without workflows are listed only if you are allowed to list namespaces. Enter the name of the
      project.
    </Text>
  );
}

/** The option to open another project always matches. */
const matching: OptionsFilter = ({ options, search }) =>
  options.filter(
    (option) =>
      'value' in option &&
      (option.value === ANOTHER.value || option.label.toLowerCase().includes(search.trim().toLowerCase())),
  );

/** `onClose`: closes the dialog that the form is in. */
export function OpenByName({ onClose }: { onClose?: () => void }) {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const wanted = name.trim().toLowerCase();
  const isName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(wanted);
  const open = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!isName) return;
    onClose?.();
    void navigate({ to: '/p/$project/workflows', params: { project: wanted } });
  };
  return (
    <form onSubmit={open}>
      <Group gap="xs" align="end" wrap={onClose ? 'wrap' : 'nowrap'} justify="flex-end">
        <TextInput
          flex={onClose ? '1 0 100%' : 1}
          label="Project name"
          description="The name of the namespace."
          placeholder="For example: shop"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          spellCheck={false}
          autoCapitalize="none"
          data-autofocus
        />
        {onClose && (
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        )}
        <Button type="submit" variant={onClose ? 'filled' : 'default'} disabled={!isName}>
          Open
        </Button>
      </Group>
    </form>
  );
}
