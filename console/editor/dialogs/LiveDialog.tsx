/** Asks before a save that changes an active workflow, because the next event runs the saved version. */
import { Badge, Button, Group, Modal, Text, useComputedColorScheme } from '@mantine/core';
import { useReturnFocus } from '../../ui/useReturnFocus.ts';
import { useEditor } from '../store/store.ts';
import { textOf } from '../model/yamlText.ts';
import { liveChanges, type LiveChange } from '../model/changes.ts';
import { yaml } from '@codemirror/lang-yaml';
import { defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { styleNonce } from '../../ui/nonce.ts';
import { codeColors, codeTheme } from '../../ui/codeTheme.ts';
import classes from './live.module.css';

const SHOWN: Record<LiveChange['kind'], { label: string; color: string }> = {
  added: { label: 'Added', color: 'green' },
  changed: { label: 'Changed', color: 'blue' },
  removed: { label: 'Removed', color: 'red' },
};

/** Import it lazily only: the diff editor is large. */
export function LiveDialog() {
  useReturnFocus();
  const { name, saved, draft, answerLive } = useEditor();
  const title = draft.spec.displayName ?? name;
  return (
    <Modal opened onClose={() => answerLive(false)} size="xl" title="Make these changes live?">
      <Text size="sm" mb="sm">
        The next run of {title} uses the version that you save. Runs that were accepted before keep their
        version.
      </Text>
      <Changes changes={liveChanges(saved, draft)} />
      <LiveDiff before={textOf(name, saved.spec)} after={textOf(name, draft.spec)} />
      <Group justify="flex-end" gap="xs" mt="md">
        <Button variant="default" onClick={() => answerLive(false)}>
          Cancel
        </Button>
        <Button data-autofocus onClick={() => answerLive(true)}>
          Save and make live
        </Button>
      </Group>
    </Modal>
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
