/** Asks before a save that puts changes live: the next run of an active workflow uses the version that is saved. */
import { Alert, Badge, Button, Group, List, Modal, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useReturnFocus } from '../../shell/useReturnFocus.ts';
import { filledFields } from '../panel/nodeFields.ts';
import { useEditor } from '../store.ts';
import { textOf } from '../yaml/yamlText.ts';
import { liveChanges, type LiveChange } from './changes.ts';
import { faultsOf, type Fault } from './faults.ts';
import { LiveDiff } from './LiveDiff.tsx';

const SHOWN: Record<LiveChange['kind'], { label: string; color: string }> = {
  added: { label: 'Added', color: 'green' },
  changed: { label: 'Changed', color: 'blue' },
  removed: { label: 'Removed', color: 'red' },
};

/** Loaded when it is first shown: nothing else may import it but lazily. */
export function LiveDialog() {
  useReturnFocus();
  const { name, workflow, saved, draft, problems, answerLive } = useEditor();
  const faults = useMemo(() => faultsOf(draft.spec, filledFields, problems), [draft.spec, problems]);
  const title = draft.spec.displayName ?? name;
  return (
    <Modal opened onClose={() => answerLive(false)} size="xl" title="Make these changes live?">
      {faults.length > 0 ? (
        <Faults faults={faults} isServed={workflow.status?.revision !== undefined} />
      ) : (
        <Text size="sm" mb="sm">
          The next run of {title} uses the version that you save. Runs of events that were accepted before
          keep their version.
        </Text>
      )}
      <Changes changes={liveChanges(saved, draft)} />
      <LiveDiff before={textOf(name, saved.spec)} after={textOf(name, draft.spec)} />
      <Group justify="flex-end" gap="xs" mt="md">
        <Button variant="default" onClick={() => answerLive(false)}>
          Cancel
        </Button>
        <Button data-autofocus onClick={() => answerLive(true)}>
          {faults.length > 0 ? 'Save anyway' : 'Save and make live'}
        </Button>
      </Group>
    </Modal>
  );
}

/** `isServed`: events run a version that was saved before. */
function Faults({ faults, isServed }: { faults: Fault[]; isServed: boolean }) {
  return (
    <Alert
      color="orange"
      variant="light"
      mb="sm"
      icon={<IconAlertTriangle />}
      title="This version will not go live yet"
    >
      <Text size="sm">
        It goes live after these problems are corrected.
        {isServed && ' Until then events run the version that is live now.'}
      </Text>
      <List size="sm" mt={4} aria-label="Problems" style={{ overflowWrap: 'anywhere' }}>
        {faults.map(({ place, message }) => (
          <List.Item key={`${place} ${message}`}>
            {place !== '' && <b>{place}: </b>}
            {message}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

function Changes({ changes }: { changes: LiveChange[] }) {
  return (
    <Group component="ul" aria-label="Changes" gap="xs" m={0} mb="sm" p={0} style={{ listStyle: 'none' }}>
      {changes.map(({ kind, what }) => (
        <li key={`${kind} ${what}`}>
          <Badge variant="light" color={SHOWN[kind].color} tt="none" maw={260}>
            {SHOWN[kind].label}: {what}
          </Badge>
        </li>
      ))}
    </Group>
  );
}
