/** Two versions of a text as one, with the lines that go and the lines that come. Nothing in it can be changed. */
import { yaml } from '@codemirror/lang-yaml';
import { defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { styleNonce } from '../../ui/nonce.ts';
import { codeColours, codeTheme } from '../../ui/codeTheme.ts';
import classes from './live.module.css';

export function LiveDiff({ before, after }: { before: string; after: string }) {
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
        scheme === 'dark' ? codeColours : syntaxHighlighting(defaultHighlightStyle),
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
