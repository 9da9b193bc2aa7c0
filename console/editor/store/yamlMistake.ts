/** The first mistake in the text of the YAML tab. */
import { readText } from '../model/yamlText.ts';

/**
 * The mistake with its line, such as `Line 3: …`; undefined if the text is a valid manifest of the
 * workflow.
 */
export function firstMistakeIn(text: string, name: string): string | undefined {
  const reading = readText(text, name);
  if (!('mistakes' in reading)) return undefined;
  const [first] = reading.mistakes;
  const line = text.slice(0, first?.from ?? 0).split('\n').length;
  return `Line ${line}: ${first?.message ?? ''}`;
}
