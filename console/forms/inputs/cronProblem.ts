/** What is wrong with the syntax of a cron expression, in words of its fields. Pure. */
import { CRON_PARTS } from '../../../api/cron.ts';

const FIVE = 'Enter five fields separated by spaces: minute, hour, day of month, month, day of week.';

/** Undefined if the syntax is right. Whether there is a next time is another question. */
export function cronProblem(cron: string): string | undefined {
  const texts = cron.trim().split(/ +/);
  if (texts.length !== CRON_PARTS.length) return FIVE;
  const wrong = CRON_PARTS.findIndex(
    ({ pattern }, at) => !new RegExp(`^(?:${pattern})$`).test(texts[at] ?? ''),
  );
  const part = CRON_PARTS[wrong];
  if (part === undefined) return undefined;
  return `"${texts[wrong]}" is not valid as ${part.name}: use ${part.values}, *, ranges such as 1-5, steps such as */2, or a list with commas.`;
}
