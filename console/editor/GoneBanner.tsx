/** Somebody has deleted the workflow. What is on the canvas is all that is left of it, so it stays until people have decided. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useMay } from '../kube/access.ts';
import { WORKFLOWS } from '../kube/resources.ts';
import { copyText } from '../ui/copy.tsx';
import { yamlOf } from './asYaml.ts';
import { useEditor } from './store/store.ts';

export function GoneBanner() {
  const state = useEditor();
  const { namespace, mode, isDirty, isSaving, save } = state;
  const mayCreate = useMay({ verb: 'create', resource: WORKFLOWS, namespace });
  return (
    <Alert color="red" variant="light" radius={0} py={6} icon={<IconTrash size={16} />} role="alert">
      <Group gap="sm" justify="space-between">
        <Text size="sm" flex="1 1 300px">
          This workflow was deleted. What you see{isDirty ? ', including your changes,' : ''} now exists only
          on this page.
        </Text>
        <Group gap="xs">
          {mayCreate && mode === 'edit' && (
            <Button loading={isSaving} onClick={() => void save()}>
              Recreate as inactive
            </Button>
          )}
          <Button variant="default" onClick={() => void copyText(yamlOf(state), 'manifest')}>
            Copy as YAML
          </Button>
        </Group>
      </Group>
    </Alert>
  );
}
