/** Date & Time. */
import { computeEach } from '../steps/compute.ts';
import { type Json, memberOf, numberOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { toJavaScript, valueOf } from '../expressions/value.ts';

const date = (raw: unknown): string => {
  const value = toJavaScript(valueOf(raw ?? ''));
  return `[${value}].map((given) => (given?.toMillis ? given : typeof given === 'number' || /^\\d{10,13}$/.test(given) ? DateTime.fromMillis(Number(given) * (String(given).length < 12 ? 1000 : 1)) : DateTime.fromISO(String(given))))[0]`;
};

const PATTERNS: Record<string, string> = {
  'MM/DD/YYYY': 'MM/dd/yyyy',
  'YYYY/MM/DD': 'yyyy/MM/dd',
  'YYYY-MM-DD': 'yyyy-MM-dd',
  'MM-DD-YYYY': 'MM-dd-yyyy',
  'MMMM DD YYYY': 'MMMM dd yyyy',
};

function pattern(raw: unknown, custom: unknown): string {
  const given = textOf(raw);
  if (given === 'custom') return textOf(custom).replace(/^=/, '');
  return PATTERNS[given] ?? given.replaceAll('YYYY', 'yyyy').replaceAll('DD', 'dd');
}

export function convertDateTime(context: NodeContext): Draft {
  const { parameters, node } = context;
  if (node.version < 2) return oldDateTime(context);
  const target = JSON.stringify(
    textOf(
      parameters['outputFieldName'],
      {
        getCurrentDate: 'currentDate',
        addToDate: 'newDate',
        subtractFromDate: 'newDate',
        formatDate: 'formattedDate',
        extractDate: 'datePart',
        getTimeBetweenDates: 'timeDifference',
        roundDate: 'roundedDate',
      }[textOf(parameters['operation'], 'getCurrentDate')] ?? 'date',
    ),
  );
  const kept = memberOf(parameters, 'options.includeInputFields') === true ? '...$json, ' : '';
  const result = (value: string) => computeEach(context, `({ ${kept}[${target}]: ${value} })`);
  const duration = `{ [${JSON.stringify(textOf(parameters['timeUnit'], 'days'))}]: Number(${toJavaScript(valueOf(parameters['duration'] ?? 0))}) }`;
  const operation = textOf(parameters['operation'], 'getCurrentDate');
  const values = dateValues(parameters, duration);
  const value = Object.hasOwn(values, operation) ? values[operation] : undefined;
  if (value === undefined) throw new Error('Date & Time: this operation has no counterpart');
  return result(value);
}

/** JavaScript for the result of each operation. */
function dateValues(parameters: Json, duration: string): Record<string, string> {
  const format = pattern(parameters['format'] ?? 'MM/DD/YYYY', parameters['customFormat']);
  const part = textOf(parameters['part'], 'month').replace(/^week$/, 'weekNumber');
  const nearest = JSON.stringify(textOf(parameters['toNearest'] ?? parameters['to'], 'month'));
  const units = JSON.stringify(parameters['units'] ?? ['day']);
  return {
    getCurrentDate: parameters['includeTime'] === false ? '$today' : '$now',
    addToDate: `${date(parameters['magnitude'])}.plus(${duration})`,
    subtractFromDate: `${date(parameters['magnitude'])}.minus(${duration})`,
    formatDate: `${date(parameters['date'])}.toFormat(${JSON.stringify(format)})`,
    extractDate: `${date(parameters['date'])}[${JSON.stringify(part)}]`,
    roundDate: `${date(parameters['date'])}.${parameters['mode'] === 'roundUp' ? 'endOf' : 'startOf'}(${nearest})`,
    getTimeBetweenDates: `${date(parameters['endDate'])}.diff(${date(parameters['startDate'])}, ${units}).toObject()`,
  };
}

function oldDateTime(context: NodeContext): Draft {
  const { parameters } = context;
  const target = JSON.stringify(textOf(parameters['dataPropertyName'], 'data'));
  const value = date(parameters['value']);
  if (textOf(parameters['action'], 'format') === 'calculate') {
    const amount = numberOf(parameters['duration']) ?? 0;
    const unit = JSON.stringify(textOf(parameters['timeUnit'], 'days'));
    const method = textOf(parameters['operation'], 'add') === 'subtract' ? 'minus' : 'plus';
    return computeEach(
      context,
      `({ ...$json, [${target}]: ${value}.${method}({ [${unit}]: ${amount} }).toISO() })`,
    );
  }
  const isCustom = parameters['custom'] === true;
  const format = pattern(
    isCustom ? 'custom' : (parameters['toFormat'] ?? 'YYYY-MM-DD'),
    parameters['toFormat'],
  );
  return computeEach(
    context,
    `({ ...$json, [${target}]: ${value}.toFormat(${JSON.stringify(format.replaceAll('YYYY', 'yyyy').replaceAll('DD', 'dd'))}) })`,
  );
}
