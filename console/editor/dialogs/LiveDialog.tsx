/** Asks before a save that changes an active workflow, because the next event runs the saved version. */
import { Alert, Badge, Button, Group, List, Modal, Text, useComputedColorScheme } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useReturnFocus } from '../../ui/useReturnFocus.ts';
import { filledFields } from '../panel/nodeFields.ts';
import { useEditor } from '../store/store.ts';
import { textOf } from '../model/yamlText.ts';
import { liveChanges, type LiveChange } from '../model/changes.ts';
import { yaml } from '@codemirror/lang-yaml';
import { defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useEffect, useMemo, useRef } from 'react';
import { styleNonce } from '../../ui/nonce.ts';
import { codeColors, codeTheme } from '../../ui/codeTheme.ts';
import { liveProblems, type LiveProblem } from './liveProblems.ts';
import classes from './live.module.css';

const SHOWN: Record<LiveChange['kind'], { label: string; color: string }> = {
  added: { label: 'Added', color: 'green' },
  changed: { label: 'Changed', color: 'blue' },
  removed: { label: 'Removed', color: 'red' },
};

/** Import it lazily only: the diff editor and the CEL compiler are large. */
export function LiveDialog() {
  useReturnFocus();
  const { name, workflow, saved, draft, problems: known, answerLive } = useEditor();
  const problems = useMemo(() => liveProblems(draft.spec, filledFields, known), [draft.spec, known]);
  const title = draft.spec.displayName ?? name;
  return (
    <Modal opened onClose={() => answerLive(false)} size="xl" title="Make these changes live?">
      {problems.length > 0 ? (
        <ProblemList problems={problems} isServed={workflow.status?.revision !== undefined} />
      ) : (
        <Text size="sm" mb="sm">
          The next run of {title} uses the version that you save. Runs that were accepted before keep their
          version.
        </Text>
      )}
      <Changes changes={liveChanges(saved, draft)} />
      <LiveDiff before={textOf(name, saved.spec)} after={textOf(name, draft.spec)} />
      <Group justify="flex-end" gap="xs" mt="md">
        <Button variant="default" onClick={() => answerLive(false)}>
          Cancel
        </Button>
        <Button data-autofocus onClick={() => answerLive(true)}>
          {problems.length > 0 ? 'Save anyway' : 'Save and make live'}
        </Button>
      </Group>
    </Modal>
  );
}

/** `isServed`: events run a version that was saved before. */
function ProblemList({ problems, isServed }: { problems: LiveProblem[]; isServed: boolean }) {
  return (
    <Alert
      color="orange"
      variant="light"
      mb="sm"
      icon={<IconAlertTriangle />}
      title="This version will not go live yet"
    >
      <Text size="sm">
        It goes live after you correct these problems.
        {isServed && ' Until then, events run the version that is live now.'}
      </Text>
      <List size="sm" mt={4} aria-label="Problems" style={{ overflowWrap: 'anywhere' }}>
        {problems.map(({ place, message }) => (
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

/** A read-only unified diff of two texts. */
function LiveDiff({ before, after }: { before: string; after: string }) {
  const box = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    if (box.current === null) return undefined;
    const view = new EditorView({
      parent: box.current,
      doc: after,
      extensions: [
        EditorView.cspNonce.of(styleNonce()),
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({ 'aria-label': 'What changes', tabindex: '0' }),
        EditorView.lineWrapping,
        lineNumbers(),
        yaml(),
        scheme === 'dark' ? codeColors : syntaxHighlighting(defaultHighlightStyle),
        codeTheme(scheme),
        unifiedMergeView({
          original: before,
          mergeControls: false,
          collapseUnchanged: { margin: 3, minSize: 6 },
        }),
      ],
    });
    return () => view.destroy();
  }, [before, after, scheme]);
  return <div ref={box} className={classes['diff']} />;
}
