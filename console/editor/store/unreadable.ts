/** Why the text of the YAML tab cannot be read. */
import { readText } from '../model/yamlText.ts';

/** The first mistake, with its line; undefined if the text is a manifest of the workflow. */
export function mistakeIn(text: string, name: string): string | undefined {
  const reading = readText(text, name);
  if (!('mistakes' in reading)) return undefined;
  const [first] = reading.mistakes;
  const line = text.slice(0, first?.from ?? 0).split('\n').length;
  return `Line ${line}: ${first?.message ?? ''}`;
}
