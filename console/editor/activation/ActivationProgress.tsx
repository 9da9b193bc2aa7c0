/** What a published version waits for or lacks, and what has to hold before it is live. */
import { Group, Loader, Stack, Text, ThemeIcon, VisuallyHidden } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import type { WorkflowObject } from '../../kube/resources.ts';
import { activationOf, proofsOf, type Proof } from './activation.ts';

/** `hasWord`: it begins with the state in a word. Nothing while the workflow is inactive. */
export function ActivationProgress({ workflow, hasWord }: { workflow: WorkflowObject; hasWord: boolean }) {
  const { kind, word, awaited, message } = activationOf(workflow);
  const isLive = kind === 'on';
  if (kind === 'off') return null;
  return (
    <Stack gap={6}>
      {!isLive && (
        <div role="status">
          {hasWord && (
            <Text size="sm" fw={600}>
              {word}
            </Text>
          )}
          {awaited !== undefined && <Text size="sm">{awaited}</Text>}
          {message !== undefined && (
            <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {message}
            </Text>
          )}
        </div>
      )}
      {kind !== 'suspended' && <Proofs proofs={proofsOf(workflow)} />}
    </Stack>
  );
}

function Proofs({ proofs }: { proofs: readonly Proof[] }) {
  return (
    <Stack component="ul" gap={2} m={0} p={0} style={{ listStyle: 'none' }} aria-label="Checks">
      {proofs.map(({ label, state }) => (
        <Group component="li" key={label} gap={6} wrap="nowrap">
          <Mark state={state} />
          <VisuallyHidden>{WORDS[state]}: </VisuallyHidden>
          <Text size="xs">{label}</Text>
        </Group>
      ))}
    </Stack>
  );
}

const WORDS: Record<Proof['state'], string> = { proven: 'Done', awaited: 'Waiting', failed: 'Failed' };

function Mark({ state }: { state: Proof['state'] }) {
  if (state === 'awaited') return <Loader size={14} color="gray" />;
  const Icon = state === 'proven' ? IconCheck : IconX;
  return (
    <ThemeIcon size={14} radius="xl" color={state === 'proven' ? 'teal.9' : 'red.9'} aria-hidden>
      <Icon size={10} />
    </ThemeIcon>
  );
}
