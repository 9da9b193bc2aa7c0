/** A JSON editor with highlighting, folding and search. Import it lazily. */
import { history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import {
  bracketMatching,
  defaultHighlightStyle,
  foldGutter,
  foldKeymap,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { linter, lintGutter } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { CODE_KEYS } from '../../ui/codeKeys.ts';
import { HIDDEN_CHARACTERS } from '../../ui/hiddenCharacters.ts';
import { styleNonce } from '../../ui/nonce.ts';
import { codeColors, codeTheme } from '../../ui/codeTheme.ts';
import { createTyping } from '../../ui/typing.ts';

type Props = {
  value: string;
  label: string;
  /** Undefined: read-only. */
  onChange?: (text: string) => void;
  /** Undefined: as high as the text, up to a part of the window. */
  height?: number;
};

export function JsonCode({ value, label, onChange, height }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const change = useRef(onChange);
  change.current = onChange;
  const [typing] = useState(() => createTyping(value));
  const scheme = useComputedColorScheme('light');
  const isRead = onChange === undefined;
  useEffect(() => {
    if (box.current === null) return undefined;
    const extensions = [
      ...common(scheme),
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      EditorState.readOnly.of(isRead),
      ...(height === undefined ? [FITTING] : []),
      ...(isRead ? [] : editing((text) => typing.reports(text) && change.current?.(text))),
    ];
    const made = new EditorView({
      parent: box.current,
      state: EditorState.create({ doc: view.current?.state.doc ?? value, extensions }),
    });
    view.current = made;
    return () => made.destroy();
  }, [scheme, isRead, label, typing, height === undefined]);
  useEffect(() => {
    const now = view.current;
    if (now !== undefined && typing.replaces(value))
      now.dispatch({ changes: { from: 0, to: now.state.doc.length, insert: value } });
  }, [value, typing]);
  return <div ref={box} style={{ ...(height !== undefined && { height }), minHeight: 0 }} />;
}

const FITTING = EditorView.theme({ '&': { maxHeight: '60vh' } });

function common(scheme: 'light' | 'dark'): Extension[] {
  return [
    EditorView.cspNonce.of(styleNonce()),
    lineNumbers(),
    HIDDEN_CHARACTERS,
    foldGutter(),
    bracketMatching(),
    drawSelection(),
    json(),
    scheme === 'dark' ? codeColors : syntaxHighlighting(defaultHighlightStyle),
    keymap.of([...CODE_KEYS, ...foldKeymap]),
    EditorView.lineWrapping,
    codeTheme(scheme),
  ];
}

function editing(onChange: (text: string) => void): Extension[] {
  return [
    history(),
    indentOnInput(),
    lintGutter(),
    linter(jsonParseLinter()),
    keymap.of([...historyKeymap, indentWithTab]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
  ];
}
