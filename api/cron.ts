/** The cron syntax of schedules: five fields with values in range, as a Kubernetes CronJob accepts them. */

const field = (value: string, names = '') => {
  const item = names ? `(${value}|${names})` : `(${value})`;
  const range = `((\\*|\\?)|${item}(-${item})?)(/[1-9][0-9]{0,2})?`;
  return `${range}(,${range})*`;
};

const MONTHS =
  '[jJ][aA][nN]|[fF][eE][bB]|[mM][aA][rR]|[aA][pP][rR]|[mM][aA][yY]|[jJ][uU][nN]|[jJ][uU][lL]|[aA][uU][gG]|[sS][eE][pP]|[oO][cC][tT]|[nN][oO][vV]|[dD][eE][cC]';
const DAYS = '[sS][uU][nN]|[mM][oO][nN]|[tT][uU][eE]|[wW][eE][dD]|[tT][hH][uU]|[fF][rR][iI]|[sS][aA][tT]';

/** The five fields, each with what it may hold and its RE2 pattern without anchors. */
export const CRON_PARTS = [
  { name: 'minute', values: '0 to 59', pattern: field('[0-5]?[0-9]') },
  { name: 'hour', values: '0 to 23', pattern: field('[01]?[0-9]|2[0-3]') },
  { name: 'day of month', values: '1 to 31', pattern: field('0?[1-9]|[12][0-9]|3[01]') },
  { name: 'month', values: '1 to 12 or JAN to DEC', pattern: field('0?[1-9]|1[0-2]', MONTHS) },
  { name: 'day of week', values: '0 to 6 or SUN to SAT', pattern: field('0?[0-6]', DAYS) },
] as const;

/** The five fields as one RE2 pattern, without anchors. */
export const CRON_FIELDS = CRON_PARTS.map(({ pattern }) => pattern).join(' +');
