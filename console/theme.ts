/** The theme: one accent color, dense controls, WCAG AA contrast in both color schemes. */
import { createTheme, darken, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';

const teal: MantineColorsTuple = [
  '#e6fafd',
  '#d3f1f6',
  '#a8e2ec',
  '#79d1e1',
  '#54c3d8',
  '#3cbad2',
  '#1f9db5',
  '#0b7285',
  '#0a6678',
  '#085463',
];

/** Modals and drawers. Their header is not a landmark of the page. */
const dialog = {
  defaultProps: {
    closeButtonProps: { 'aria-label': 'Close' },
    attributes: { header: { role: 'none' } },
  },
  // No word of a title is alone in its last line.
  styles: { title: { fontWeight: 600, lineHeight: 1.3, textWrap: 'balance' } },
} as const;

/** Lists and menus that open over a page. */
const LIST = { shadow: 'md' } as const;
/** A list that is cut shows that more follows. */
const SCROLLED = { scrollAreaProps: { type: 'auto' } } as const;

export const theme = createTheme({
  primaryColor: 'windlass',
  // White text on this shade is readable in both schemes.
  primaryShade: 7,
  colors: { windlass: teal },
  autoContrast: true,
  luminanceThreshold: 0.32,
  defaultRadius: 'sm',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, "Liberation Mono", monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  respectReducedMotion: true,
  cursorType: 'pointer',
  components: {
    Button: { defaultProps: { size: 'xs' } },
    TextInput: { defaultProps: { size: 'xs' } },
    Autocomplete: { defaultProps: { size: 'xs', comboboxProps: LIST, ...SCROLLED } },
    Textarea: { defaultProps: { size: 'xs' } },
    // Selecting the current option again keeps it. Optional fields have a clear button.
    // The list has a shadow, which sets it off from the text that it covers.
    // The check mark of the chosen option has a column in all of them.
    Select: {
      defaultProps: {
        size: 'xs',
        allowDeselect: false,
        withAlignedLabels: true,
        comboboxProps: LIST,
        ...SCROLLED,
      },
    },
    NumberInput: { defaultProps: { size: 'xs' } },
    // As the switches in the list of workflows.
    Switch: { defaultProps: { withThumbIndicator: false } },
    // Mantine makes them smaller than the text of the smallest control.
    InputWrapper: {
      styles: {
        description: { fontSize: 'var(--mantine-font-size-xs)' },
        error: { fontSize: 'var(--mantine-font-size-xs)' },
      },
    },
    Modal: dialog,
    Drawer: dialog,
    // The first item has the focus, and the list contains only items.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false, ...LIST } },
    Tooltip: { defaultProps: { openDelay: 400, withinPortal: true } },
  },
});

/** Text colors are dark enough to read; red also works below white text. */
export const variables: CSSVariablesResolver = ({ colors }) => {
  const words = Object.entries(colors).flatMap(([name, shades]) => {
    const dark = darken(shades[9], 0.3);
    return [
      [`--mantine-color-${name}-text`, dark],
      [`--mantine-color-${name}-light-color`, dark],
    ];
  });
  const red = {
    '--mantine-color-red-filled': 'var(--mantine-color-red-9)',
    '--mantine-color-red-filled-hover': darken(colors.red[9], 0.15),
  };
  /** Texts, borders and marks of fields with a wrong value. */
  const error = (shade: number) => ({ '--mantine-color-error': `var(--mantine-color-red-${shade})` });
  /** Marks of failures without words: filled red is too dark beside a dark background. */
  const mark = (shade: number) => ({ '--failure-mark': `var(--mantine-color-red-${shade})` });
  const hint = (color: string) => ({ '--mantine-color-placeholder': color });
  return {
    variables: {},
    light: { ...Object.fromEntries(words), ...red, ...error(9), ...mark(9), ...hint('#6c757d') },
    // Destructive actions and failures stay red there.
    dark: {
      ...red,
      ...error(4),
      ...mark(5),
      ...hint('#9a9a9a'),
      '--mantine-color-red-light-color': 'var(--mantine-color-red-3)',
    },
  };
};
