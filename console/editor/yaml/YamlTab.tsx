/** The workflow as YAML. It equals the canvas whenever the text is valid. */
import { history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  defaultHighlightStyle,
  foldGutter,
  foldKeymap,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { Alert, Text, useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { stepsTo } from '../../../api/fieldPath.ts';
import { REPLACING } from '../../ui/replaceSelection.ts';
import { CODE_KEYS } from '../../ui/codeKeys.ts';
import { HIDDEN_CHARACTERS } from '../../ui/hiddenCharacters.ts';
import { styleNonce } from '../../ui/nonce.ts';
import { codeColors, codeTheme } from '../../ui/codeTheme.ts';
import { isEqual } from '../../kube/patch.ts';
import type { Problems } from '../model/problems.ts';
import { firstMistakeIn } from '../store/yamlMistake.ts';
import { useEditorPart, useEditorStore, type EditorStore } from '../store/store.ts';
import { placeOf, readText, textOf, withoutSwitches, withSpec } from '../model/yamlText.ts';
import classes from './yaml.module.css';

export function YamlTab() {
  const store = useEditorStore();
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const scheme = useComputedColorScheme('light');
  const isReadOnly = useEditorPart(({ mode }) => mode === 'read');
  const spec = useEditorPart(({ draft }) => draft.spec);
  const problems = useEditorPart((state) => state.problems);
  const unreadable = useEditorPart((state) => state.unreadable);
  useEffect(() => {
    if (box.current === null) return undefined;
    const { name, draft, text } = store.get();
    const doc = view.current?.state.doc ?? text ?? textOf(name, draft.spec);
    const made = new EditorView({
      parent: box.current,
      state: EditorState.create({ doc, extensions: extensions(store, scheme, isReadOnly) }),
    });
    view.current = made;
    return () => made.destroy();
  }, [store, scheme, isReadOnly]);
  useEffect(() => {
    if (view.current) follow(view.current, store);
  }, [store, spec, problems, unreadable]);
  return (
    <div className={classes['tab']}>
      <Text size="xs" c="dimmed" px="sm" py={4}>
        The same workflow as on the canvas. Whether it is active or suspended is not part of it: that takes
        effect at once. Comments are not saved.
      </Text>
      {unreadable !== undefined && (
        <Alert color="orange" variant="light" py={6} mx="sm" role="status">
          This YAML is invalid. The canvas shows the last valid version. {unreadable}
        </Alert>
      )}
      <div ref={box} className={classes['text']} />
    </div>
  );
}

/**
 * Updates the text from the draft, unless it is equivalent already, and shows the problems at their lines.
 */
function follow(view: EditorView, store: EditorStore): void {
  const { name, draft, problems, text: invalid } = store.get();
  const text = view.state.doc.toString();
  if (invalid !== undefined) {
    // Of a colleague: the own text is here already.
    if (invalid !== text) view.dispatch({ changes: { from: 0, to: text.length, insert: invalid } });
    return;
  }
  const reading = readText(text, name);
  if ('mistakes' in reading || !isEqual(reading.spec, withoutSwitches(draft.spec))) {
    view.dispatch({ changes: changeBetween(text, textOf(name, draft.spec)) });
  }
  show(view, name, problems);
}

/** The shortest change of one range, so that the cursor stays where nothing changes. */
function changeBetween(before: string, after: string): { from: number; to: number; insert: string } {
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) from += 1;
  let same = 0;
  while (same < most - from && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  return { from, to: before.length - same, insert: after.slice(from, after.length - same) };
}

function show(view: EditorView, name: string, problems: Problems): void {
  const reading = readText(view.state.doc.toString(), name);
  if ('mistakes' in reading) {
    const found = reading.mistakes.map((mistake): Diagnostic => ({ ...mistake, severity: 'error' }));
    return view.dispatch(setDiagnostics(view.state, found));
  }
  const { spec, document, ignored } = reading;
  const atNodes = [...problems.nodes].flatMap(([id, list]) => {
    const index = spec.nodes.findIndex((node) => node.id === id);
    return list.map(({ field, message }) => {
      const path = ['spec', 'nodes', index, ...(field === '' ? ['id'] : stepsTo(field))];
      return { place: placeOf(document, path), message };
    });
  });
  const atEdges = [...problems.edges].flatMap(([id, list]) => {
    const index = (spec.edges ?? []).findIndex(({ from, to }) => `${from}>${to}` === id);
    return list.map(({ message }) => ({ place: placeOf(document, ['spec', 'edges', index]), message }));
  });
  const elsewhere = problems.workflow.map(({ field, message }) => ({
    place: placeOf(document, ['spec', ...(field === '' ? ['nodes'] : stepsTo(field))]),
    message,
  }));
  view.dispatch(
    setDiagnostics(view.state, [
      ...ignored.map((each): Diagnostic => ({ ...each, severity: 'warning' })),
      ...[...atNodes, ...atEdges, ...elsewhere].map(
        ({ place: [from, to], message }): Diagnostic => ({
          from,
          to: Math.min(to, view.state.doc.lineAt(from).to),
          severity: 'error',
          message,
        }),
      ),
    ]),
  );
}

function extensions(store: EditorStore, scheme: 'light' | 'dark', isReadOnly: boolean) {
  return [
    EditorView.cspNonce.of(styleNonce()),
    EditorView.contentAttributes.of({ 'aria-label': 'Workflow YAML', tabindex: '0' }),
    EditorState.readOnly.of(isReadOnly),
    EditorState.tabSize.of(2),
    REPLACING,
    lineNumbers(),
    HIDDEN_CHARACTERS,
    foldGutter(),
    lintGutter(),
    bracketMatching(),
    drawSelection(),
    history(),
    indentOnInput(),
    yaml(),
    scheme === 'dark' ? codeColors : syntaxHighlighting(defaultHighlightStyle),
    keymap.of([...CODE_KEYS, ...foldKeymap, ...historyKeymap, indentWithTab]),
    codeTheme(scheme),
    EditorView.updateListener.of((update) => {
      // Text written by `follow` equals the draft already.
      if (update.docChanged && update.view.hasFocus) take(update.view, store);
    }),
  ];
}

/** Applies the text to the draft if it is valid. */
function take(view: EditorView, store: EditorStore): void {
  const { name, problems } = store.get();
  const text = view.state.doc.toString();
  const reading = readText(text, name);
  if ('mistakes' in reading) {
    store.setUnreadable({ why: firstMistakeIn(text, name) ?? '', text });
  } else {
    store.setUnreadable(undefined);
    store.apply((draft) => withSpec(draft, reading.spec), { key: 'yaml', isWhole: true });
  }
  // Diagnostics need a transaction of their own, after this one.
  queueMicrotask(() => show(view, name, problems));
}
