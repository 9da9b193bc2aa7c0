/** Cron expressions of the rules that n8n's schedules have. Pure. */
import { type Json, listOf, memberOf, numberOf, objectOf, textOf } from '../model/json.ts';

type Times = { cron: string; notes: string[] };

const whole = (value: unknown, otherwise: number, least: number, most: number): number => {
  const number = numberOf(value);
  return number === undefined ? otherwise : Math.min(Math.max(Math.round(number), least), most);
};

const every = (interval: number): string => (interval <= 1 ? '*' : `*/${interval}`);
const APPROXIMATE = 'cron counts the interval from the start of each hour, day, month or year';

/** The times of one rule of a Schedule Trigger. */
function timesOfRule(rule: unknown): Times {
  const json = objectOf(rule);
  const minute = whole(json['triggerAtMinute'], 0, 0, 59);
  const hour = whole(json['triggerAtHour'], 0, 0, 23);
  switch (textOf(json['field'], 'days')) {
    case 'cronExpression':
      return cronOf(json['expression']);
    case 'seconds':
      return {
        cron: '* * * * *',
        notes: ['a schedule cannot start more than once a minute: it starts each minute'],
      };
    case 'minutes':
      return interval(whole(json['minutesInterval'], 5, 1, 59), 60, (text) => `${text} * * * *`);
    case 'hours':
      return interval(whole(json['hoursInterval'], 1, 1, 23), 24, (text) => `${minute} ${text} * * *`);
    case 'weeks': {
      const days = listOf(json['triggerAtDay']).flatMap((day) => numberOf(day) ?? []);
      const weeks = whole(json['weeksInterval'], 1, 1, 52);
      return {
        cron: `${minute} ${hour} * * ${days.length > 0 ? days.map((day) => Math.abs(Math.trunc(day)) % 7).join(',') : 0}`,
        notes: weeks > 1 ? ['it starts each week: cron has no interval of weeks'] : [],
      };
    }
    case 'months':
      return interval(
        whole(json['monthsInterval'], 1, 1, 12),
        12,
        (text) => `${minute} ${hour} ${whole(json['triggerAtDayOfMonth'], 1, 1, 31)} ${text} *`,
      );
    default:
      return interval(whole(json['daysInterval'], 1, 1, 31), 1, (text) => `${minute} ${hour} ${text} * *`);
  }
}

function interval(count: number, period: number, cron: (text: string) => string): Times {
  return { cron: cron(every(count)), notes: count > 1 && period % count !== 0 ? [APPROXIMATE] : [] };
}

function cronOf(raw: unknown): Times {
  const fields = textOf(raw).replace(/^=/, '').trim().split(/\s+/);
  const notes =
    fields.length === 6 && fields[0] !== '0' ? ['cron has no seconds: it starts at most once a minute'] : [];
  const five = fields.length === 6 ? fields.slice(1) : fields;
  if (five.length !== 5)
    return {
      cron: '0 0 * * *',
      notes: ['its cron expression cannot be read: it starts at midnight. Correct it'],
    };
  return { cron: five.join(' '), notes };
}

/** The times of one entry of the older Cron node. */
function timesOfCronNode(entry: unknown): Times {
  const json: Json = objectOf(entry);
  const minute = whole(json['minute'], 0, 0, 59);
  const hour = whole(json['hour'], 14, 0, 23);
  switch (textOf(json['mode'], 'everyDay')) {
    case 'everyMinute':
      return { cron: '* * * * *', notes: [] };
    case 'everyHour':
      return { cron: `${minute} * * * *`, notes: [] };
    case 'everyWeek':
      return { cron: `${minute} ${hour} * * ${whole(json['weekday'], 1, 0, 7) % 7}`, notes: [] };
    case 'everyMonth':
      return { cron: `${minute} ${hour} ${whole(json['dayOfMonth'], 1, 1, 31)} * *`, notes: [] };
    case 'everyX':
      return textOf(json['unit'], 'hours') === 'minutes'
        ? timesOfRule({ field: 'minutes', minutesInterval: json['value'] })
        : timesOfRule({
            field: textOf(json['unit'], 'hours') === 'hours' ? 'hours' : 'days',
            hoursInterval: json['value'],
            daysInterval: json['value'],
          });
    case 'custom':
      return cronOf(json['cronExpression']);
    default:
      return { cron: `${minute} ${hour} * * *`, notes: [] };
  }
}

/** The times of the older Interval node. */
function timesOfInterval(parameters: Json): Times {
  const unit = textOf(parameters['unit'], 'seconds');
  const count = parameters['interval'] ?? 1;
  return timesOfRule({ field: unit, minutesInterval: count, hoursInterval: count });
}

/** The rules of a schedule of any of these nodes. */
export function rulesOf(type: string, parameters: Json): Times[] {
  if (type === 'interval') return [timesOfInterval(parameters)];
  if (type === 'cron') return listOf(memberOf(parameters, 'triggerTimes.item')).map(timesOfCronNode);
  return listOf(memberOf(parameters, 'rule.interval')).map(timesOfRule);
}
