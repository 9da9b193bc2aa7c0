/** The code theme for both color schemes: Mantine's colors with WCAG AA contrast. */
import { defaultHighlightStyle, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';

export function codeTheme(scheme: 'light' | 'dark') {
  return EditorView.theme(
    {
      '&': {
        height: '100%',
        fontSize: '12px',
        color: 'var(--mantine-color-text)',
        backgroundColor: 'var(--mantine-color-body)',
        border: '1px solid var(--mantine-color-default-border)',
        borderRadius: 'var(--mantine-radius-sm)',
      },
      '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.5' },
      '.cm-gutters': {
        color: 'var(--mantine-color-dimmed)',
        backgroundColor: 'var(--mantine-color-body)',
        borderRight: '1px solid var(--mantine-color-default-border)',
      },
      '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
      '&.cm-focused': { outline: '2px solid var(--mantine-primary-color-filled)', outlineOffset: '-1px' },
    },
    { dark: scheme === 'dark' },
  );
}

/** In the dark scheme the colors of the light one are lightened. */
export const codeColors = syntaxHighlighting(
  HighlightStyle.define(
    defaultHighlightStyle.specs.map((spec) =>
      spec.color === undefined ? spec : { ...spec, color: `color-mix(in srgb, ${spec.color}, white 65%)` },
    ),
  ),
);
