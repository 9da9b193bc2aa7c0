/** Texts and values that a person reads below a title. Pure. */

/** Lines and characters that are shown; `-o json` has all of it. */
const LINES_SHOWN = 12;
const LINE_LENGTH = 160;

/** A value as JSON of several lines. */
export const indentedJson = (value: unknown): string => JSON.stringify(value, null, 2) ?? '';

/** The first lines, indented, without control characters of a terminal. */
export function indented(text: string): string[] {
  const lines = printable(text).trimEnd().split('\n');
  // The note of one line left out would take its place.
  const count = lines.length === LINES_SHOWN + 1 ? lines.length : LINES_SHOWN;
  const shown = lines.slice(0, count).map((line) => `  ${line.slice(0, LINE_LENGTH)}`);
  const rest = lines.length - shown.length;
  return rest > 0 ? [...shown, `  … and ${rest} more lines`] : shown;
}

/** Without what a terminal would execute: texts of events and models are those of strangers. */
export function printable(text: string): string {
  return text.replaceAll(/(?![\t\n])\p{Cc}/gu, '\uFFFD');
}

/** The lines of an output. */
export function outputLines(output: { text_content?: string; data_content?: unknown }): string[] {
  const { text_content: text = '', data_content: data } = output;
  return [
    ...(text === '' ? [] : indented(text)),
    ...(data === null || data === undefined ? [] : indented(indentedJson(data))),
  ];
}
