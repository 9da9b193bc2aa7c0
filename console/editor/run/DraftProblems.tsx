/** The problems of a draft that a test run would meet, each with the way to it. */
import { Alert, Anchor, List, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useMemo } from 'react';
import { closeTestDialog } from '../../runs/live/runRequests.ts';
import { liveProblems, placeText, type LiveProblem } from '../dialogs/liveProblems.ts';
import { nodeOf } from '../model/model.ts';
import { filledFields } from '../panel/nodeFields.ts';
import { FixButton } from '../panel/FixButton.tsx';
import { useEditor } from '../store/store.ts';

/** So many are listed. */
const SHOWN = 5;

/** What a model is asked about the problems. */
function problemsText(problems: readonly LiveProblem[]): string {
  const list = problems
    .slice(0, 20)
    .map(({ place, message }) => `- ${place === '' ? '' : `${place}: `}${message.slice(0, 300)}`);
  return `Fix these problems of the draft:\n${list.join('\n')}`;
}

/** Import it lazily only: the CEL compiler is large. */
export function DraftProblems() {
  const { draft, problems: known, openNode } = useEditor();
  const problems = useMemo(() => liveProblems(draft.spec, filledFields, known), [draft.spec, known]);
  if (problems.length === 0) return null;
  const more = problems.length - SHOWN;
  return (
    <Alert color="yellow" variant="light" icon={<IconAlertTriangle />} title="The draft is incomplete">
      <List size="sm" aria-label="Problems of the draft">
        {problems.slice(0, SHOWN).map(({ place, message }) => (
          <List.Item key={`${place} ${message}`}>
            {nodeOf(draft, place) === undefined ? (
              <b>{place === '' ? 'Workflow' : placeText(place, draft.spec)}</b>
            ) : (
              <Anchor
                component="button"
                type="button"
                size="sm"
                c="inherit"
                underline="always"
                onClick={() => {
                  closeTestDialog();
                  openNode(place, 'parameters');
                }}
              >
                {placeText(place, draft.spec)}
              </Anchor>
            )}
            : {message}
          </List.Item>
        ))}
      </List>
      <FixButton label="Fix these problems" text={problemsText(problems)} onOpen={closeTestDialog} />
      {more > 0 && <Text size="sm">{more} more are marked on the canvas.</Text>}
    </Alert>
  );
}
