/**
 * Formats dates and numbers for code, in the host: the engine has no Intl. Pure: the result depends on the
 * arguments and the version of Node.js alone. Arguments are bounded, so that a call takes bounded time.
 */
import { formatTime } from '../../api/cel/times.ts';
import { ExpressionError } from '../../api/expression/errors.ts';

const PATTERN_LENGTH = 200;
const NUMBER_LENGTH = 400;
const NAME_LENGTH = 64;
const FORMATS_KEPT = 20;

/** How a call of the host ends: the text, or what is wrong with the arguments. */
export type Formatted = { text: string } | { problem: string };

/** `ms`: since 1970. `pattern` has the fields of `format` of CEL, such as `yyyy-MM-dd HH:mm`. */
export function formatDate(ms: number, pattern: string, timeZone: string): Formatted {
  const time = new Date(ms);
  if (Number.isNaN(time.getTime()))
    return usage(
      'formatDate',
      'the value must be a Date, a text such as 2026-01-31T10:00:00Z, or milliseconds',
    );
  if (pattern.length > PATTERN_LENGTH)
    return usage('formatDate', `the pattern must have at most ${PATTERN_LENGTH} characters`);
  if (timeZone.length > NAME_LENGTH)
    return usage('formatDate', 'the time zone must be a name such as Europe/Berlin');
  try {
    return { text: formatTime(time, pattern, timeZone) };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return usage('formatDate', error.detail.replace('format() of a timestamp ', 'the call '));
  }
}

const FIELDS = ['locale', 'style', 'currency', 'minimumFractionDigits', 'maximumFractionDigits'] as const;
const STYLES = ['decimal', 'percent', 'currency'];

/** `digits`: a number as JSON writes it. `options`: a JSON object. */
export function formatNumber(digits: string, options: string): Formatted {
  if (digits.length > NUMBER_LENGTH || !/^-?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?$/i.test(digits))
    return usage(
      'formatNumber',
      `the value must be a number of at most ${NUMBER_LENGTH} digits: convert texts with Number(…)`,
    );
  if (options.length > PATTERN_LENGTH) return usage('formatNumber', 'the options are too long');
  try {
    // Intl keeps every digit of a text, which TypeScript's library knows as a numeric literal.
    return { text: formatOf(options).format(digits as `${number}`) };
  } catch (error) {
    return usage('formatNumber', error instanceof Error ? error.message : 'the options are invalid');
  }
}

const usage = (name: string, problem: string): Formatted => ({ problem: `${name}(): ${problem}` });

/** The latest formats by their options: one takes about 0.1 ms to make. */
const formats = new Map<string, Intl.NumberFormat>();

/** @throws Error that says what is wrong with the options */
function formatOf(text: string): Intl.NumberFormat {
  const known = formats.get(text);
  if (known) return known;
  const { locale = 'en-US', ...options } = checked(JSON.parse(text) as Record<string, unknown>);
  const format = new Intl.NumberFormat(locale, options);
  const [oldest] = formats.keys();
  if (formats.size >= FORMATS_KEPT && oldest !== undefined) formats.delete(oldest);
  formats.set(text, format);
  return format;
}

type NumberOptions = { locale?: string } & Pick<
  Intl.NumberFormatOptions,
  'style' | 'currency' | 'minimumFractionDigits' | 'maximumFractionDigits'
>;

function checked(options: Record<string, unknown>): NumberOptions {
  const unknown = Object.keys(options).find((name) => !FIELDS.some((field) => field === name));
  if (unknown !== undefined) throw new Error(`there is no option ${unknown}: use ${FIELDS.join(', ')}`);
  const { locale, style = 'decimal', currency } = options;
  if (!STYLES.some((each) => each === style)) throw new Error(`style must be one of ${STYLES.join(', ')}`);
  if (locale !== undefined && !isLocale(locale)) throw new Error('locale must be a name such as de-DE');
  const isCurrency = typeof currency === 'string' && /^[A-Za-z]{3}$/.test(currency);
  if ((style === 'currency' || currency !== undefined) && !isCurrency)
    throw new Error('currency must be a code such as EUR');
  checkFractionDigits(options);
  return options;
}

function checkFractionDigits(options: Record<string, unknown>): void {
  for (const name of ['minimumFractionDigits', 'maximumFractionDigits']) {
    const digits = options[name];
    const isValid = Number.isInteger(digits) && Number(digits) >= 0 && Number(digits) <= 20;
    if (digits !== undefined && !isValid) throw new Error(`${name} must be an integer from 0 to 20`);
  }
  const { minimumFractionDigits: least, maximumFractionDigits: most } = options;
  if (least !== undefined && most !== undefined && Number(least) > Number(most))
    throw new Error('minimumFractionDigits must not be larger than maximumFractionDigits');
}

function isLocale(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > NAME_LENGTH) return false;
  try {
    return Intl.NumberFormat.supportedLocalesOf(value).length > 0;
  } catch {
    return false;
  }
}
