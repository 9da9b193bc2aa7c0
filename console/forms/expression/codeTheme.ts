/** The style of code in forms, matching the other inputs in both color schemes. */
import { EditorView } from '@codemirror/view';

const mono = 'var(--mantine-font-family-monospace)';

export const CODE_THEME = EditorView.theme({
  '&': {
    fontSize: 'var(--mantine-font-size-xs)',
    backgroundColor: 'transparent',
    color: 'var(--mantine-color-text)',
  },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: mono, lineHeight: '1.5' },
  '.cm-content': { padding: '5px 0', caretColor: 'var(--mantine-color-text)' },
  '.cm-line': { padding: '0 8px' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-placeholder': { color: 'var(--mantine-color-placeholder)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    backgroundColor: 'var(--mantine-primary-color-light)',
  },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--mantine-primary-color-light)',
    outline: 'none',
  },
  '.wl-reference': {
    color: 'var(--mantine-primary-color-light-color)',
    backgroundColor: 'var(--mantine-primary-color-light)',
    borderRadius: '3px',
  },
  '.wl-key': { fontWeight: '600' },
  '.wl-string': { color: 'var(--mantine-color-dimmed)' },
  '.wl-atom': { color: 'var(--mantine-primary-color-light-color)' },
  '&.cm-editor .cm-tooltip, .cm-tooltip': {
    zIndex: '400',
    border: '1px solid var(--mantine-color-default-border)',
    borderRadius: 'var(--mantine-radius-sm)',
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
    boxShadow: 'var(--mantine-shadow-md)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: mono,
    fontSize: 'var(--mantine-font-size-xs)',
    maxHeight: '14em',
    minWidth: '14em',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    padding: '3px 8px',
    display: 'flex',
    gap: '12px',
    justifyContent: 'space-between',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--mantine-primary-color-light)',
    color: 'var(--mantine-color-text)',
  },
  '.cm-completionDetail': { fontStyle: 'normal', color: 'var(--mantine-color-dimmed)', marginLeft: '0' },
});
