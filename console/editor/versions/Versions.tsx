/** The versions of the workflow: who published what; two are compared, and one restored into the draft. */
import { Badge, Button, Checkbox, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { LABEL } from '../../../api/group.ts';
import { personName } from '../../../api/person.ts';
import { listObjects } from '../../kube/objects.ts';
import { REVISIONS } from '../../kube/resources.ts';
import { FailureNote } from '../../ui/FailureNote.tsx';
import { fullTime } from '../../ui/format.ts';
import { notifySuccess } from '../../ui/notify.tsx';
import { useIsNarrow } from '../../ui/useIsNarrow.ts';
import { useEditor } from '../store/store.ts';
import { comparable, restored, versionsOf, type Version } from './versions.ts';

const RevisionDiff = lazy(async () => ({
  default: (await import('../../runs/RevisionDiff.tsx')).RevisionDiff,
}));

type Props = {
  /** The revision of the version that a link led to. */
  asked: string | undefined;
  onRestored: () => void;
};

export function Versions({ asked, onRestored }: Props) {
  const { namespace, name, workflow, draft, isReadOnly, replaceDraft, undo } = useEditor();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { data, error } = useQuery({
    queryKey: ['versions', namespace, name, workflow.status?.revision],
    // A version that is published again has a place and a time of its own.
    staleTime: 0,
    queryFn: ({ signal }) =>
      listObjects(REVISIONS, namespace, { labelSelector: `${LABEL.workflow}=${name}`, signal }),
  });
  if (error !== null) return <FailureNote error={error} />;
  if (data === undefined) return <Skeleton h={200} />;
  const versions = versionsOf(workflow, data.items);
  const published = versions.some(({ problem }) => problem !== undefined) ? 'In effect' : 'Published';
  const [newer, older] = versions.filter(({ revision }) => chosen.includes(revision));
  const restore = (version: Version): void => {
    const next = restored(version, draft);
    if (next === undefined) return;
    replaceDraft(next);
    onRestored();
    notifySuccess(`Version of ${fullTime(version.at)} restored into the draft.`, {
      text: 'Undo',
      onClick: undo,
    });
  };
  return (
    <Stack gap="sm">
      {versions.length === 0 && <Text size="sm">Nothing has been published yet.</Text>}
      {versions.length > 1 && (
        <Text size="xs" c="dimmed">
          Choose two versions to compare them.
        </Text>
      )}
      <Stack component="ul" gap="sm" m={0} p={0} style={{ listStyle: 'none' }} aria-label="Versions">
        {versions.map((version) => (
          <li key={version.revision} aria-current={version.revision === asked || undefined}>
            <Row
              isAsked={version.revision === asked}
              version={version}
              published={published}
              isChosen={chosen.includes(version.revision)}
              onChoose={
                versions.length > 1
                  ? (isChosen) =>
                      setChosen(
                        isChosen
                          ? [...chosen.slice(-1), version.revision]
                          : chosen.filter((each) => each !== version.revision),
                      )
                  : undefined
              }
              onRestore={
                isReadOnly || restored(version, draft) === undefined ? undefined : () => restore(version)
              }
            />
          </li>
        ))}
      </Stack>
      {newer !== undefined && older !== undefined && <Comparison {...{ older, newer, published }} />}
    </Stack>
  );
}

type RowProps = {
  version: Version;
  /** The word for the version that runs execute. */
  published: string;
  isAsked: boolean;
  isChosen: boolean;
  /** Undefined: there is no other version to compare it with. */
  onChoose: ((isChosen: boolean) => void) | undefined;
  /** Undefined: the version cannot be restored. */
  onRestore: (() => void) | undefined;
};

function Row({ version, published, isAsked, isChosen, onChoose, onRestore }: RowProps) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isAsked) row.current?.scrollIntoView({ block: 'center' });
  }, [isAsked]);
  const time = fullTime(version.at);
  return (
    <Group ref={row} gap="sm" wrap="nowrap" align="flex-start" {...(isAsked && { bg: ASKED, p: 'xs' })}>
      {onChoose !== undefined && (
        <Checkbox
          aria-label={`Compare the version of ${time}`}
          checked={isChosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
      )}
      <Stack gap={2} flex={1} miw={0}>
        <Group gap="xs">
          <Text size="sm">{time}</Text>
          {version.isCurrent && (
            <Badge variant="light" tt="none">
              {published}
            </Badge>
          )}
          {version.problem !== undefined && (
            <Badge variant="light" color="orange" tt="none">
              {NOT_VALID}
            </Badge>
          )}
        </Group>
        {version.problem !== undefined && (
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            Not used: {version.problem}
          </Text>
        )}
        {messageText(version) !== undefined && (
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {messageText(version)}
          </Text>
        )}
        <Text size="xs" c="dimmed" title={version.by} style={{ overflowWrap: 'anywhere' }}>
          {version.by === undefined ? changedOutside(version.program) : personName(version.by)} ·{' '}
          {version.revision}
        </Text>
      </Stack>
      {onRestore !== undefined && (
        <Button variant="default" aria-label={`Restore the version of ${time}`} onClick={onRestore}>
          Restore
        </Button>
      )}
    </Group>
  );
}

function messageText({ message, earlierMessage }: Version): string | undefined {
  return message ?? (earlierMessage && `Earlier message: ${earlierMessage}`);
}

function changedOutside(program: string | undefined): string {
  return `Changed outside the console${program === undefined ? '' : ` by ${program}`}`;
}

/** The background of the version that a link led to. */
const ASKED = 'var(--mantine-primary-color-light)';

/** Two versions may be of the same second: the identifier tells them apart. */
function captionOf({ isCurrent, problem, revision }: Version, otherwise: string, published: string): string {
  const what = problem !== undefined ? NOT_VALID : isCurrent ? published : otherwise;
  return `${what} · ${revision}`;
}

const NOT_VALID = 'Published, not valid';

type ComparisonProps = { older: Version; newer: Version; published: string };

function Comparison({ older, newer, published }: ComparisonProps) {
  const [before, after] = comparable(older, newer);
  // In one column the comparison has the captions above it.
  const isNarrow = useIsNarrow();
  const [left, right] = [captionOf(older, 'Before', published), captionOf(newer, 'After', published)];
  return (
    <>
      {!isNarrow && (
        <Group grow gap={0}>
          <Text size="xs" c="dimmed" pr="md">
            {left} · {fullTime(older.at)}
          </Text>
          <Text size="xs" c="dimmed">
            {right} · {fullTime(newer.at)}
          </Text>
        </Group>
      )}
      <Suspense fallback={<Skeleton h={300} />}>
        <RevisionDiff ran={before} today={after} labels={[left, right]} />
      </Suspense>
    </>
  );
}
