/** A proposal beside the draft: what to notice, what is wrong with it, and the difference. */
import { Alert, Button, Group, List, Skeleton, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconEye } from '@tabler/icons-react';
import { lazy, Suspense, useMemo } from 'react';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { isEqual } from '../../kube/patch.ts';
import { visibleText } from '../../ui/visibleText.ts';
import tall from '../../ui/tallDialog.module.css';
import { useEditorPart } from '../store/store.ts';
import { problemText } from './problemText.ts';
import { proposalEffects } from './proposalEffects.ts';

const RevisionDiff = lazy(async () => ({
  default: (await import('../../runs/RevisionDiff.tsx')).RevisionDiff,
}));

type Props = {
  /** The draft for which it was proposed. */
  before: WorkflowSpec;
  spec: WorkflowSpec;
  problems: readonly string[];
  onAccept: () => void;
  onReject: () => void;
};

export function ProposalView({ before, spec, problems, onAccept, onReject }: Props) {
  const effects = useMemo(() => proposalEffects(before, spec), [before, spec]);
  const isCurrent = useEditorPart(({ draft }) => isEqual(draft.spec, before));
  const isSame = isEqual(before, spec);
  return (
    <Stack gap="sm">
      {isSame && <Text size="sm">The model proposes no change.</Text>}
      {effects.length > 0 && (
        <Alert color="yellow" variant="light" icon={<IconEye />} title="Check before you accept">
          <Sentences label="What to check" sentences={effects} />
        </Alert>
      )}
      {problems.length > 0 && (
        <Alert
          color="orange"
          variant="light"
          icon={<IconAlertTriangle />}
          title="Problems that the model did not solve"
        >
          <Sentences
            label="Problems of the proposal"
            sentences={problems.map((problem) => problemText(problem, spec))}
          />
        </Alert>
      )}
      {!isCurrent && (
        <Alert color="red" variant="light" role="alert" title="The draft changed meanwhile">
          <Text size="sm">Reject the proposal and ask again, so that no change is lost.</Text>
        </Alert>
      )}
      {!isSame && (
        <>
          <Group grow gap={0} visibleFrom="xs">
            <Text size="xs" c="dimmed" pr="md">
              Draft
            </Text>
            <Text size="xs" c="dimmed">
              Proposal
            </Text>
          </Group>
          <Suspense fallback={<Skeleton h={300} />}>
            <RevisionDiff ran={before} today={spec} labels={LABELS} />
          </Suspense>
        </>
      )}
      <Group justify="flex-end" gap="xs" className={tall['footer'] ?? ''}>
        <Button variant="default" onClick={onReject}>
          Reject
        </Button>
        <Button disabled={isSame || !isCurrent} onClick={onAccept} data-autofocus>
          Accept into the draft
        </Button>
      </Group>
    </Stack>
  );
}

const LABELS = ['Draft', 'Proposal'] as const;
/** So many are listed. */
const SHOWN = 30;
const LONGEST = 300;

function Sentences({ label, sentences }: { label: string; sentences: readonly string[] }) {
  return (
    <>
      <List size="sm" aria-label={label} style={{ overflowWrap: 'anywhere' }}>
        {sentences.slice(0, SHOWN).map((sentence) => (
          <List.Item key={sentence}>{visibleText(sentence.slice(0, LONGEST))}</List.Item>
        ))}
      </List>
      {sentences.length > SHOWN && <Text size="sm">{sentences.length - SHOWN} more follow.</Text>}
    </>
  );
}
