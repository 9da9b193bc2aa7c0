/** The CodeMirror setup of the forms. It is large: only the lazily loaded `CodeInput.tsx` imports it. */
import {
  autocompletion,
  closeBrackets,
  completionKeymap,
  startCompletion,
  type Completion as Shown,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  defaultHighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  keymap,
  lineNumbers,
  MatchDecorator,
  tooltips,
  ViewPlugin,
  type DecorationSet,
  type ViewUpdate,
} from '@codemirror/view';
import { CODE_KEYS } from '../../ui/codeKeys.ts';
import { HIDDEN_CHARACTERS } from '../../ui/hiddenCharacters.ts';
import { styleNonce } from '../../ui/nonce.ts';
import { REPLACING } from '../../ui/replaceSelection.ts';
import { celOf } from './cel.ts';
import { completeCel, completeTemplate, typedOver, type Option } from './complete.ts';
import { CODE_THEME } from './codeTheme.ts';
import { LEAVE_WITH_TAB } from './javaScript.ts';
import { REFERENCE_TYPE, type Sources } from '../source.ts';

/**
 * `template`: text with references in braces. `json`: JSON whose strings may hold references. In `cel` and
 * `javascript`, references are written as `nodes.<id>`.
 */
export type CodeLanguage = 'template' | 'cel' | 'json' | 'javascript';

const isPlain = (language: CodeLanguage) => language === 'cel' || language === 'javascript';

type Setup = {
  language: CodeLanguage;
  isMultiline: boolean;
  isReadOnly: boolean;
  /** Read whenever options are shown. */
  sources: () => Sources;
  onChange: (text: string) => void;
};

/** All extensions of one editor. */
export function setupOf({ language, isMultiline, isReadOnly, sources, onChange }: Setup): Extension[] {
  return [
    EditorView.cspNonce.of(styleNonce()),
    CODE_THEME,
    history(),
    HIDDEN_CHARACTERS,
    language === 'javascript' ? JAVASCRIPT : colours(language),
    tooltips({ parent: document.body, position: 'fixed' }),
    autocompletion({
      override: [(context) => optionsAt(context, language, sources())],
      icons: false,
      maxRenderedOptions: 50,
      interactionDelay: 0,
    }),
    keymap.of([
      ...completionKeymap,
      ...(language === 'javascript' ? [LEAVE_WITH_TAB, indentWithTab] : []),
      ...historyKeymap,
      ...CODE_KEYS.filter(({ key }) => isMultiline || key !== 'Enter'),
    ]),
    language === 'json' ? json() : [],
    language === 'json' || language === 'javascript' ? EDITING : [],
    isMultiline ? EditorView.lineWrapping : ONE_LINE,
    EditorState.readOnly.of(isReadOnly),
    EditorView.editable.of(!isReadOnly),
    dropping(language),
    isPlain(language) ? [] : TYPING_OVER,
    REPLACING,
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
  ];
}

const EDITING: Extension = [closeBrackets(), bracketMatching(), indentOnInput()];
const JAVASCRIPT: Extension = [
  lineNumbers(),
  javascript(),
  syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
];

/** Pasted line breaks become spaces. */
const ONE_LINE: Extension = [
  EditorView.clipboardInputFilter.of((text) => text.replace(/\s*\n\s*/g, ' ')),
  EditorState.transactionFilter.of((change) => (change.newDoc.lines > 1 ? [] : change)),
  EditorView.theme({ '.cm-scroller': { overflowX: 'auto', scrollbarWidth: 'none' } }),
];

function optionsAt(
  context: CompletionContext,
  language: CodeLanguage,
  sources: Sources,
): CompletionResult | null {
  const complete = isPlain(language) ? completeCel : completeTemplate;
  const { doc } = context.state;
  // A quote in another line of code is no quote here.
  const { from, text } =
    language === 'javascript' ? doc.lineAt(context.pos) : { from: 0, text: doc.toString() };
  const found = complete(text, context.pos - from, sources);
  if (found === undefined) return null;
  if (isPlain(language) && !context.explicit && found.from + from === context.pos) return null;
  return {
    from: found.from + from,
    filter: false,
    options: found.options.map((option) => shown(option, language)),
  };
}

function shown(option: Option, language: CodeLanguage): Shown {
  return {
    label: option.insert,
    displayLabel: option.label,
    detail: option.detail,
    apply: (view, _option, from, to) => take(view, option, { from, to, language }),
  };
}

type Taken = { from: number; to: number; language: CodeLanguage };

/** Inserts the option, closes open braces, and shows the next options. */
function take(view: EditorView, { insert, hasMore }: Option, { from, to, language }: Taken): void {
  const text = view.state.doc.toString();
  const space = !isPlain(language) && text[from - 1] === '{' ? ' ' : '';
  const rest = text.slice(to);
  const isClosed = isPlain(language) || /^[^{]*\}\}/.test(rest);
  const written = `${space}${language === 'json' ? insert.replaceAll('"', '\\"') : insert}`;
  view.dispatch({
    changes: { from, to, insert: isClosed ? written : `${written} }}` },
    selection: { anchor: from + written.length },
    userEvent: 'input.complete',
  });
  if (hasMore && written.endsWith('.')) setTimeout(() => startCompletion(view), 0);
}

/** Who types on after a completion types the braces that it has closed already. */
const TYPING_OVER: Extension = EditorView.inputHandler.of((view, from, to, typed) => {
  const after = from === to ? typedOver(view.state.doc.toString(), from, typed) : undefined;
  if (after === undefined) return false;
  view.dispatch({ selection: { anchor: after }, userEvent: 'select' });
  return true;
});

/** A dropped reference gets braces, unless it is dropped into some. */
function dropping(language: CodeLanguage): Extension {
  return EditorView.domEventHandlers({
    drop: (event, view) => {
      const reference = event.dataTransfer?.getData(REFERENCE_TYPE) ?? '';
      if (reference === '' || view.state.readOnly) return false;
      event.preventDefault();
      const at = view.posAtCoords({ x: event.clientX, y: event.clientY }) ?? view.state.doc.length;
      insertReference(view, reference, language, at);
      return true;
    },
    dragover: (event) => {
      if (event.dataTransfer?.types.includes(REFERENCE_TYPE) === true) event.preventDefault();
      return false;
    },
  });
}

/** Inserts a reference at a position or replaces the selection. */
export function insertReference(
  view: EditorView,
  reference: string,
  language: CodeLanguage,
  at?: number,
): void {
  const { from, to } = at === undefined ? view.state.selection.main : { from: at, to: at };
  const before = view.state.doc.sliceString(0, from);
  const isInside = before.lastIndexOf('{{') > before.lastIndexOf('}}');
  const insert = isPlain(language) ? celOf(reference) : isInside ? reference : `{{ ${reference} }}`;
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + insert.length },
    userEvent: 'input.drop',
  });
  view.focus();
}

const mark = (name: string) => Decoration.mark({ class: `wl-${name}` });
const REFERENCE = mark('reference');
const STRING = mark('string');
const KEY = mark('key');
const ATOM = mark('atom');

const PATTERNS: Record<Exclude<CodeLanguage, 'javascript'>, RegExp> = {
  template: /\{\{(?:[^}]|\}(?!\}))*\}\}/g,
  cel: /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\b(?:nodes\.\w+|item|index)\b(?:\.\w+|\[\d+\])*|\b(?:true|false|null|\d+(?:\.\d+)?)\b/g,
  json: /\{\{(?:[^}"]|\}(?!\}))*\}\}|"(?:\\.|[^"\\])*"(?=\s*:)|"(?:\\.|[^"\\])*"|\b(?:true|false|null)\b|-?\b\d+(?:\.\d+)?\b/g,
};

function markOf(text: string, isKey: boolean): Decoration {
  if (text.startsWith('{{') || /^["'].*\{\{.*\}\}/.test(text) || /^(nodes\.|item|index)/.test(text))
    return REFERENCE;
  if (/^["']/.test(text)) return isKey ? KEY : STRING;
  return ATOM;
}

/** Highlights references and values in the visible range. */
function colours(language: Exclude<CodeLanguage, 'javascript'>): Extension {
  const matcher = new MatchDecorator({
    regexp: PATTERNS[language],
    decoration: (match, view, at) =>
      markOf(
        match[0],
        /^\s*:/.test(view.state.doc.sliceString(at + match[0].length, at + match[0].length + 8)),
      ),
  });
  return ViewPlugin.define(
    (view) => ({
      marks: matcher.createDeco(view),
      update(update: ViewUpdate) {
        this.marks = matcher.updateDeco(update, this.marks);
      },
    }),
    { decorations: (plugin: { marks: DecorationSet }) => plugin.marks },
  );
}
