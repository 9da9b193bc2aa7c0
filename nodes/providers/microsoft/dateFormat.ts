/**
 * Recognizes number formats that display dates, times or durations
 * (https://support.microsoft.com/office/number-format-codes-5026bbd6-04bc-48cd-bf33-80f18b4eae68).
 */

/**
 * What stands for itself: texts in quotes, a character behind a backslash, one that is repeated or has its
 * width left free, colours, conditions and languages.
 */
const LITERAL = /"[^"]*"?|\\.|[*_].|\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi;
const DATE = /[dmyhse]/i;
const KNOWN_NUMBERS = /general|e[+-]/gi;

const known = new Map<unknown, boolean>();
const MOST_KNOWN = 1_000;

/** Whether a number in that format is shown as a date, a time or a duration. */
export function isDateFormat(format: unknown): boolean {
  if (typeof format !== 'string') return false;
  const found = known.get(format);
  if (found !== undefined) return found;
  const isDate = DATE.test(format.replaceAll(LITERAL, '').replaceAll(KNOWN_NUMBERS, ''));
  // Workbooks use few of them, again and again.
  if (known.size < MOST_KNOWN) known.set(format, isDate);
  return isDate;
}
