/**
 * Resolves conflicting changes of two people: theirs and mine side by side, and the common base. On a narrow
 * screen what theirs has is between the lines of mine. Nothing is published before the user decides.
 */
import { yaml } from '@codemirror/lang-yaml';
import { defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { history, historyKeymap } from '@codemirror/commands';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { Alert, Button, Group, Modal, SegmentedControl, Text, useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { CODE_KEYS } from '../../ui/codeKeys.ts';
import { HIDDEN_CHARACTERS } from '../../ui/hiddenCharacters.ts';
import { styleNonce } from '../../ui/nonce.ts';
import { codeColors, codeTheme } from '../../ui/codeTheme.ts';
import { useIsNarrow } from '../../ui/useIsNarrow.ts';
import { whoChanged } from '../model/owners.ts';
import { useEditor } from '../store/store.ts';
import { readText, textOf, withSpec } from '../model/yamlText.ts';
import tall from '../../ui/tallDialog.module.css';
import classes from './conflict.module.css';

type Other = 'theirs' | 'base';

const TAKE: Record<Other, string> = { theirs: 'Use theirs', base: 'Use earlier version' };

export function ConflictDialog() {
  const { name, theirs, saved, draft, isComparing, compare, resolve } = useEditor();
  const [other, setOther] = useState<Other>('theirs');
  const isNarrow = useIsNarrow();
  const [{ begun, times }, setBegun] = useState({ begun: draft, times: 0 });
  const [text, setText] = useState(() => textOf(name, draft.spec));
  if (theirs === undefined) return null;
  const reading = readText(text, name);
  const isOutdated = draft !== begun;
  const beginAgain = (): void => {
    setBegun({ begun: draft, times: times + 1 });
    setText(textOf(name, draft.spec));
  };
  const who = whoChanged(theirs);
  const left = textOf(name, other === 'theirs' ? theirs.spec : saved.spec);
  return (
    <Modal
      opened={isComparing}
      onClose={() => compare(false)}
      size="90%"
      title={`${who} changed this workflow while you were editing it`}
      classNames={{ content: classes['content'] ?? '' }}
    >
      <Introduction other={other} isNarrow={isNarrow} />
      <Group justify="space-between" mb={6}>
        <SegmentedControl
          size="xs"
          aria-label="Other version"
          value={other}
          onChange={(value) => setOther(value === 'base' ? 'base' : 'theirs')}
          data={[
            { value: 'theirs', label: 'Theirs' },
            { value: 'base', label: 'Before both changes' },
          ]}
        />
        {!isNarrow && (
          <Text size="sm" fw={600} className={classes['yours'] ?? ''}>
            Yours
          </Text>
        )}
      </Group>
      {/* Otherwise what a colleague changed in the draft meanwhile would be lost. */}
      {isOutdated && <Outdated onBeginAgain={beginAgain} />}
      <Compare
        key={times}
        left={left}
        right={text}
        onChange={setText}
        {...(isNarrow && { take: TAKE[other] })}
      />
      {'mistakes' in reading && (
        <Alert color="orange" variant="light" mt="xs" py={6} role="status">
          {reading.mistakes[0]?.message}
        </Alert>
      )}
      <Group justify="flex-end" gap="xs" mt="md" className={`${tall['footer']} ${classes['choices']}`}>
        <Button variant="default" onClick={() => compare(false)}>
          Decide later
        </Button>
        <Button variant="light" color="red" onClick={() => resolve('theirs')}>
          Use theirs, discard mine
        </Button>
        <Button
          disabled={'mistakes' in reading || isOutdated}
          onClick={() => {
            if ('spec' in reading) resolve(withSpec(draft, reading.spec));
          }}
        >
          Continue with the edited version
        </Button>
      </Group>
    </Modal>
  );
}

function Introduction({ other, isNarrow }: { other: Other; isNarrow: boolean }) {
  return (
    <Text size="sm" mb="sm">
      Your changes are not published yet.{' '}
      {isNarrow ? (
        <>
          Edit your version here. Lines without a number (red) are only in the other version;{' '}
          <b>{TAKE[other]}</b> above them puts them in place of yours (green).
        </>
      ) : (
        'Your version is on the right: edit it there and copy from the left what you want to keep.'
      )}
    </Text>
  );
}

function Outdated({ onBeginAgain }: { onBeginAgain: () => void }) {
  return (
    <Alert color="orange" variant="light" mb="xs" py={6} role="alert">
      <Group gap="sm" justify="space-between">
        <Text size="sm">
          The draft changed while this dialog was open. Your version does not have these changes.
        </Text>
        <Button variant="light" color="orange" onClick={onBeginAgain}>
          Begin again with the draft
        </Button>
      </Group>
    </Alert>
  );
}

type CompareProps = {
  left: string;
  right: string;
  onChange: (text: string) => void;
  /** In one column: the label of the buttons that put what is at the left into the right version. */
  take?: string;
};

function Compare({ left, right, onChange, take }: CompareProps) {
  const box = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  const now = useRef(right);
  now.current = right;
  useEffect(() => {
    if (box.current === null) return undefined;
    const common = [
      EditorView.cspNonce.of(styleNonce()),
      lineNumbers(),
      HIDDEN_CHARACTERS,
      yaml(),
      scheme === 'dark' ? codeColors : syntaxHighlighting(defaultHighlightStyle),
      codeTheme(scheme),
      EditorView.lineWrapping,
    ];
    const yours = {
      doc: now.current,
      extensions: [
        ...common,
        history(),
        keymap.of([...CODE_KEYS, ...historyKeymap]),
        named('Your version'),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    };
    const parent = box.current;
    const inOneColumn = (label: string) => {
      const mergeControls = (type: 'reject' | 'accept', act: (event: MouseEvent) => void) =>
        type === 'reject' ? buttonTo(label, act) : document.createElement('span');
      const changes = { original: left, mergeControls, collapseUnchanged: COLLAPSED };
      const extensions = [
        yours.extensions,
        unifiedMergeView(changes),
        EditorView.updateListener.of((update) => nameButtons(update.view, label)),
      ];
      const editor = new EditorView({ parent, ...yours, extensions });
      nameButtons(editor, label);
      return editor;
    };
    const inTwoColumns = () =>
      new MergeView({
        parent,
        a: { doc: left, extensions: [...common, EditorState.readOnly.of(true), named('The other version')] },
        b: yours,
        revertControls: 'a-to-b',
        collapseUnchanged: COLLAPSED,
        gutter: true,
      });
    const view = take === undefined ? inTwoColumns() : inOneColumn(take);
    return () => view.destroy();
  }, [left, scheme, onChange, take]);
  return <div ref={box} className={classes['compare']} />;
}

const COLLAPSED = { margin: 3, minSize: 6 };

/** Among the lines that yours does not have. */
function buttonTo(label: string, act: (event: MouseEvent) => void): HTMLElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = classes['take'] ?? '';
  button.textContent = label;
  button.addEventListener('click', act);
  return button;
}

/** Names the buttons, whose text is the same, by the line of yours before which they are. */
function nameButtons(view: EditorView, label: string): void {
  for (const button of view.dom.querySelectorAll('.cm-chunkButtons button')) {
    const line = view.state.doc.lineAt(view.posAtDOM(button)).number;
    const name = `${label}, line ${line}`;
    if (button.ariaLabel !== name) button.ariaLabel = name;
  }
}

function named(label: string) {
  return EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' });
}
