/** The problems of a draft that a test run would meet, each with the way to it. */
import { Alert, List, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useEffect, useMemo } from 'react';
import { closeTestDialog } from '../../runs/live/runRequests.ts';
import type { LiveProblem } from '../dialogs/liveProblems.ts';
import { filledFields } from '../panel/nodeFields.ts';
import { FixButton } from '../panel/FixButton.tsx';
import { ProblemPlace } from '../dialogs/ProblemPlace.tsx';
import { useEditor } from '../store/store.ts';
import { preventsRun, testedPart, type Tested } from './testedPart.ts';

/** So many are listed. */
const SHOWN = 5;

/** What a model is asked about the problems. */
function problemsText(problems: readonly LiveProblem[]): string {
  const list = problems
    .slice(0, 20)
    .map(({ place, message }) => `- ${place === '' ? '' : `${place}: `}${message.slice(0, 300)}`);
  return `Fix these problems of the draft:\n${list.join('\n')}`;
}

type Props = {
  tested: Tested;
  /** Called with whether there are problems that keep the run from starting. */
  onFound: (hasProblems: boolean) => void;
};

/** Import it lazily only: the CEL compiler is large. */
export function DraftProblems({ tested: { until, mocks }, onFound }: Props) {
  const { draft, problems: known } = useEditor();
  const problems = useMemo(
    () =>
      testedPart({ spec: draft.spec, problems: known, fieldsOf: filledFields }, { until, mocks }).problems,
    [draft.spec, known, until, mocks],
  );
  const hasProblems = problems.some(preventsRun);
  useEffect(() => onFound(hasProblems), [onFound, hasProblems]);
  if (problems.length === 0) return null;
  const more = problems.length - SHOWN;
  return (
    <Alert color="orange" variant="light" icon={<IconAlertTriangle />} title="The draft has problems">
      <List size="sm" aria-label="Problems of the draft" style={{ overflowWrap: 'anywhere' }}>
        {problems.slice(0, SHOWN).map(({ place, setting, message }) => (
          <List.Item key={`${place} ${message}`}>
            <ProblemPlace place={place} setting={setting} onLeave={closeTestDialog} />
            {message}
          </List.Item>
        ))}
      </List>
      {more > 0 && (
        <Text size="sm">
          {more} more {more === 1 ? 'is' : 'are'} marked on the canvas.
        </Text>
      )}
      <FixButton
        label="Ask a model to fix these problems"
        text={problemsText(problems)}
        onOpen={closeTestDialog}
      />
    </Alert>
  );
}
