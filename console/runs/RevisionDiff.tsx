/**
 * Compares the revision of a run with the current one as YAML. Import it lazily: the diff editor is large.
 */
import { yaml } from '@codemirror/lang-yaml';
import { defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { MergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, highlightSpecialChars, lineNumbers } from '@codemirror/view';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { stringify } from 'yaml';
import { styleNonce } from '../ui/nonce.ts';
import { codeColors, codeTheme } from '../ui/codeTheme.ts';
import classes from './RevisionDiff.module.css';

type Props = {
  ran: unknown;
  today: unknown;
  /** The names of both sides. */
  labels?: readonly [string, string];
};

const LABELS = ['This run', 'Current version'] as const;

export function RevisionDiff({ ran, today, labels = LABELS }: Props) {
  const [before, after] = labels;
  const box = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    if (box.current === null) return undefined;
    const side = (data: unknown, label: string) => ({
      doc: stringify(data, { aliasDuplicateObjects: false }),
      extensions: [
        EditorView.cspNonce.of(styleNonce()),
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorView.lineWrapping,
        lineNumbers(),
        // A model or a caller may have written characters that hide or reorder what stands there.
        highlightSpecialChars(),
        yaml(),
        scheme === 'dark' ? codeColors : syntaxHighlighting(defaultHighlightStyle),
        codeTheme(scheme),
      ],
    });
    const view = new MergeView({
      parent: box.current,
      a: side(ran, before),
      b: side(today, after),
      collapseUnchanged: { margin: 3, minSize: 6 },
      gutter: true,
    });
    return () => view.destroy();
  }, [ran, today, before, after, scheme]);
  return <div ref={box} className={classes['diff']} />;
}
