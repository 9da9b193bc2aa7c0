/**
 * Compares the revision of a run with the current one as YAML: side by side, or in one column on a narrow
 * screen. Import it lazily: the diff editor is large.
 */
import { yaml } from '@codemirror/lang-yaml';
import { defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { Stack, Text, useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { stringify } from 'yaml';
import { HIDDEN_CHARACTERS } from '../ui/hiddenCharacters.ts';
import { styleNonce } from '../ui/nonce.ts';
import { codeColors, codeTheme } from '../ui/codeTheme.ts';
import { useIsNarrow } from '../ui/useIsNarrow.ts';
import classes from './RevisionDiff.module.css';

type Props = {
  ran: unknown;
  today: unknown;
  /** The names of both sides. */
  labels?: readonly [string, string];
};

const COLLAPSED = { margin: 3, minSize: 6 };
const LABELS = ['This run', 'Current version'] as const;

export function RevisionDiff({ ran, today, labels = LABELS }: Props) {
  const [before, after] = labels;
  const box = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  const isNarrow = useIsNarrow();
  useEffect(() => {
    if (box.current === null) return undefined;
    const textOf = (data: unknown) => stringify(data, { aliasDuplicateObjects: false });
    const side = (data: unknown, label: string) => ({
      doc: textOf(data),
      extensions: [
        EditorView.cspNonce.of(styleNonce()),
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorView.lineWrapping,
        lineNumbers(),
        HIDDEN_CHARACTERS,
        yaml(),
        scheme === 'dark' ? codeColors : syntaxHighlighting(defaultHighlightStyle),
        codeTheme(scheme),
      ],
    });
    const parent = box.current;
    const inOneColumn = () => {
      const { doc, extensions } = side(today, `Changes from ${before} to ${after}`);
      const changes = { original: textOf(ran), mergeControls: false, collapseUnchanged: COLLAPSED };
      return new EditorView({ parent, doc, extensions: [...extensions, unifiedMergeView(changes)] });
    };
    const inTwoColumns = () =>
      new MergeView({
        parent,
        a: side(ran, before),
        b: side(today, after),
        collapseUnchanged: COLLAPSED,
        gutter: true,
      });
    const view = isNarrow ? inOneColumn() : inTwoColumns();
    return () => view.destroy();
  }, [ran, today, before, after, scheme, isNarrow]);
  return (
    <>
      {isNarrow && (
        <Stack gap={0}>
          <Text size="xs" c="red">
            − {before}
          </Text>
          <Text size="xs" c="green">
            + {after}
          </Text>
        </Stack>
      )}
      <div ref={box} className={classes['diff']} />
    </>
  );
}
