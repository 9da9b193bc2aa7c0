/** Says on the canvas that the YAML holds a text that cannot be read: until it is mended or dropped, it is what counts. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { IconFileAlert } from '@tabler/icons-react';
import { useEditorPart, useEditorStore } from '../store/store.ts';

export function UnreadableBanner({ onYaml }: { onYaml: () => void }) {
  const store = useEditorStore();
  const why = useEditorPart((state) => state.unreadable);
  if (why === undefined) return null;
  return (
    <Alert color="orange" variant="light" radius={0} py={6} icon={<IconFileAlert size={16} />} role="status">
      <Group gap="sm" justify="space-between">
        <Text size="sm" flex="1 1 300px">
          The YAML is invalid. The canvas shows the last valid version and is read-only. {why}
        </Text>
        <Group gap="xs">
          <Button variant="light" color="orange" onClick={onYaml}>
            Go to YAML
          </Button>
          <Button variant="default" onClick={() => store.setUnreadable(undefined)}>
            Discard the YAML changes
          </Button>
        </Group>
      </Group>
    </Alert>
  );
}
