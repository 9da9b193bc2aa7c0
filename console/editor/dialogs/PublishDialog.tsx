/** Shows the changes of a draft, and asks whether to publish them. */
import {
  Alert,
  Badge,
  Button,
  Group,
  List,
  Modal,
  Text,
  TextInput,
  useComputedColorScheme,
} from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useReturnFocus } from '../../ui/useReturnFocus.ts';
import { filledFields } from '../panel/nodeFields.ts';
import { ProblemPlace } from './ProblemPlace.tsx';
import { useEditor } from '../store/store.ts';
import type { Draft } from '../model/model.ts';
import { textOf } from '../model/yamlText.ts';
import { liveChanges, noteChanges, specChanges, type LiveChange } from '../model/changes.ts';
import { yaml } from '@codemirror/lang-yaml';
import { defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState, type SyntheticEvent } from 'react';
import { MAX_MESSAGE } from '../../../api/version.ts';
import { sessionQuery, userNameOf } from '../../session/session.ts';
import { HIDDEN_CHARACTERS } from '../../ui/hiddenCharacters.ts';
import { styleNonce } from '../../ui/nonce.ts';
import { codeColors, codeTheme } from '../../ui/codeTheme.ts';
import { liveProblems, type LiveProblem } from './liveProblems.ts';
import { publishWarning } from './publishWarning.ts';
import classes from './live.module.css';
import tall from '../../ui/tallDialog.module.css';
import { nameInSentence } from '../../ui/visibleText.ts';

const SHOWN: Record<LiveChange['kind'], { label: string; color: string }> = {
  added: { label: 'Added', color: 'green' },
  changed: { label: 'Changed', color: 'blue' },
  disabled: { label: 'Disabled', color: 'gray' },
  enabled: { label: 'Enabled', color: 'blue' },
  removed: { label: 'Removed', color: 'red' },
};

/** Import it lazily only: the diff editor and the CEL compiler are large. */
export function PublishDialog() {
  useReturnFocus();
  const { name, workflow, saved, draft, isAskedAgain, problems: known, answer } = useEditor();
  const { data: session } = useQuery(sessionQuery);
  const [message, setMessage] = useState('');
  const problems = useMemo(() => liveProblems(draft.spec, filledFields, known), [draft.spec, known]);
  const isRefused = problems.some((problem) => problem.isRefused);
  const title = nameInSentence(draft.spec.displayName ?? name);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    answer({ by: userNameOf(session), message });
  };
  return (
    <Modal
      opened
      onClose={() => answer(undefined)}
      size="xl"
      title="Publish these changes?"
      classNames={{ content: tall['content'] ?? '' }}
    >
      <form onSubmit={submit}>
        {isAskedAgain && (
          <Alert color="orange" variant="light" mb="sm" py={6} role="alert" icon={<IconAlertTriangle />}>
            The draft changed while this dialog was open, and nothing is published yet. Check the changes
            again.
          </Alert>
        )}
        {problems.length > 0 ? (
          <ProblemList
            problems={problems}
            isActive={draft.spec.active}
            isServed={workflow.status?.revision !== undefined}
          />
        ) : (
          <Text size="sm" mb="sm">
            {effectOf(saved, draft, title)}
          </Text>
        )}
        <Changes changes={[...specChanges(saved, draft), ...noteChanges(saved, draft)]} />
        <LiveDiff before={textOf(name, saved.spec)} after={textOf(name, draft.spec)} />
        <TextInput
          label="Message"
          description="Optional. Shown in Versions, with your name."
          mt="sm"
          maxLength={MAX_MESSAGE}
          value={message}
          onChange={(event) => setMessage(event.currentTarget.value)}
        />
        <Group justify="flex-end" gap="xs" mt="xs" className={tall['footer'] ?? ''}>
          <Button
            variant="default"
            {...(isRefused && { 'data-autofocus': true })}
            onClick={() => answer(undefined)}
          >
            Cancel
          </Button>
          <Button type="submit" {...(isRefused ? { disabled: true } : { 'data-autofocus': true })}>
            {problems.length > 0 && !isRefused ? 'Publish anyway' : 'Publish'}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}

/** How publishing affects runs. */
function effectOf(saved: Draft, draft: Draft, title: string): string {
  if (!draft.spec.active) return `${title} is inactive: no event runs this version until you activate it.`;
  if (liveChanges(saved, draft).length === 0) return 'These changes do not affect runs.';
  return `The next run of ${title} uses this version. Runs that were accepted before keep their version.`;
}

type ListProps = {
  problems: LiveProblem[];
  isActive: boolean;
  /** Events run an earlier version. */
  isServed: boolean;
};

function ProblemList({ problems, isActive, isServed }: ListProps) {
  const { answer } = useEditor();
  const { title, text } = publishWarning(problems, { isActive, isServed });
  return (
    <Alert color="orange" variant="light" mb="sm" icon={<IconAlertTriangle />} title={title}>
      <Text size="sm">{text}</Text>
      <List size="sm" mt={4} aria-label="Problems" style={{ overflowWrap: 'anywhere' }}>
        {problems.map(({ place, setting, message }) => (
          <List.Item key={`${place} ${message}`}>
            <ProblemPlace place={place} setting={setting} onLeave={() => answer(undefined)} />
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
      {changes.map(({ kind, what }, at) => (
        <li key={`${kind} ${what} ${at}`}>
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
        HIDDEN_CHARACTERS,
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
