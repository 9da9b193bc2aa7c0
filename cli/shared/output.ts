/** The formats of `-o`, for results that are data. */
import type { Option } from './command.ts';

export const OUTPUT_OPTION: Option = {
  flags: '-o, --output <format>',
  description: 'Print the result as data. Left out: as text for people.',
  choices: ['json', 'yaml', 'name'],
};

/** A result in the format that `-o` asks for; undefined where it asks for none. */
export async function formatResult(
  format: unknown,
  result: object,
  name: string,
): Promise<string | undefined> {
  if (format === undefined) return undefined;
  if (format === 'name') return name;
  if (format === 'json') return JSON.stringify(result, null, 2);
  const { toYaml } = await import('./yaml.ts');
  return toYaml(result);
}
