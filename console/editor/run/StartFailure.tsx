/** Why a test run did not start, with the way to each problem. */
import { Alert, List, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { closeTestDialog } from '../../runs/live/runRequests.ts';
import { FailureNote } from '../../ui/FailureNote.tsx';
import { ProblemPlace } from '../dialogs/ProblemPlace.tsx';
import { RunRefused } from './refused.ts';

const TITLE = 'Could not start the test run';

export function StartFailure({ error }: { error: unknown }) {
  if (!(error instanceof RunRefused)) return <FailureNote title={TITLE} error={error} />;
  const { title, problems, more } = error;
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle />} title={TITLE} role="alert">
      <Text size="sm">{title}. Correct it, then start a new test run.</Text>
      <List size="sm" mt="xs" aria-label="Why it cannot run" style={{ overflowWrap: 'anywhere' }}>
        {problems.map(({ place, message }) => (
          <List.Item key={`${place} ${message}`}>
            <ProblemPlace place={place} setting={undefined} onLeave={closeTestDialog} />
            {message}
          </List.Item>
        ))}
      </List>
      {more > 0 && <Text size="sm">And {more} more.</Text>}
    </Alert>
  );
}
