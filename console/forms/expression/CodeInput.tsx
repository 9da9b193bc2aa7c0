/** An input for expressions and JSON, based on CodeMirror. Import it lazily, through `LazyCode.tsx`. */
import { Compartment, EditorState } from '@codemirror/state';
import { linter, lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { EditorView, placeholder as placeholderOf } from '@codemirror/view';
import { useEffect, useEffectEvent, useRef, useState, type RefObject } from 'react';
import { insertReference, setupOf, type CodeLanguage } from './codeSetup.ts';
import { syntaxMistake } from './javaScript.ts';
import type { Sources } from '../source.ts';
import type { Mistake } from '../values.ts';
import { createTyping } from '../../ui/typing.ts';

export type CodeHandle = { insert: (reference: string) => void };

export type CodeProps = {
  id: string;
  label: string;
  describedBy?: string;
  value: string;
  onChange: (text: string) => void;
  language: CodeLanguage;
  isMultiline: boolean;
  isReadOnly: boolean;
  isInvalid: boolean;
  placeholder?: string;
  sources: Sources;
  /** An error at a position of the text; line and column count from 1. */
  mistake?: Mistake | undefined;
  /** Takes the focus when it mounts. */
  focusesFirst?: boolean;
  handle?: RefObject<CodeHandle | null>;
};

export function CodeInput(props: CodeProps) {
  const { value, language, isMultiline, isReadOnly, placeholder = '', focusesFirst = false, handle } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const attributes = useRef(new Compartment());
  const sources = useRef(props.sources);
  /** The mistake of the syntax, else the one that was reported. */
  const mistakeNow = useEffectEvent((text: string) => syntaxMistake(text) ?? props.mistake);
  const [typing] = useState(() => createTyping(value));
  const change = useEffectEvent((text: string) => {
    if (typing.reports(text)) props.onChange(text);
  });
  useEffect(() => {
    sources.current = props.sources;
  });
  useEffect(() => {
    const made = new EditorView({
      parent: host.current ?? undefined,
      state: EditorState.create({
        doc: view.current?.state.doc ?? value,
        extensions: [
          setupOf({
            language,
            isMultiline,
            isReadOnly,
            sources: () => sources.current,
            onChange: (text) => change(text),
          }),
          placeholderOf(placeholder),
          language === 'javascript'
            ? [
                lintGutter(),
                linter((shown) => diagnosticsOf(shown, mistakeNow(shown.state.doc.toString())), {
                  delay: LINT_DELAY_MS,
                }),
              ]
            : [],
          attributes.current.of(EditorView.contentAttributes.of(ariaOf(props))),
        ],
      }),
    });
    view.current = made;
    if (handle) handle.current = { insert: (reference) => insertReference(made, reference, language) };
    if (focusesFirst) {
      made.focus();
      made.dispatch({ selection: { anchor: made.state.doc.length } });
    }
    return () => made.destroy();
  }, [language, isMultiline, isReadOnly, placeholder]);
  useEffect(() => {
    const shown = view.current;
    if (shown === null || !typing.replaces(value)) return;
    shown.dispatch({ changes: { from: 0, to: shown.state.doc.length, insert: value } });
  }, [value, typing]);
  const { id, label, describedBy, isInvalid, mistake } = props;
  useEffect(() => {
    const shown = view.current;
    if (shown === null || language !== 'javascript') return;
    shown.dispatch(setDiagnostics(shown.state, diagnosticsOf(shown, mistakeNow(shown.state.doc.toString()))));
  }, [language, mistake?.line, mistake?.column, mistake?.message]);
  useEffect(() => {
    const aria = EditorView.contentAttributes.of(ariaOf({ id, label, describedBy, isInvalid, isReadOnly }));
    view.current?.dispatch({ effects: attributes.current.reconfigure(aria) });
  }, [id, label, describedBy, isInvalid, isReadOnly]);
  return <div ref={host} />;
}

/** How long the text must be unchanged before its syntax is checked. */
const LINT_DELAY_MS = 500;

/** The rest of the line, from the position. */
function diagnosticsOf({ state: { doc } }: EditorView, mistake: Mistake | undefined): Diagnostic[] {
  if (mistake === undefined) return [];
  const { line, column, message } = mistake;
  const { from, to } = doc.line(Math.min(line, doc.lines));
  return [{ from: Math.min(from + column - 1, to), to, severity: 'error', message }];
}

type Named = {
  id: string;
  label: string;
  describedBy?: string | undefined;
  isInvalid: boolean;
  isReadOnly: boolean;
};

function ariaOf({ id, label, describedBy, isInvalid, isReadOnly }: Named): Record<string, string> {
  return {
    id,
    'aria-label': label,
    ...(describedBy !== undefined && { 'aria-describedby': describedBy }),
    ...(isInvalid && { 'aria-invalid': 'true' }),
    ...(isReadOnly && { 'aria-readonly': 'true', tabindex: '0' }),
  };
}
