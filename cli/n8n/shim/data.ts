/** What the nodes of n8n do with lists of items. */
import type { ShimPart } from './part.ts';

const MEMBER: ShimPart = {
  name: 'member',
  needs: /\b(?:member|setMember|removeMember)\(/,
  source: `const stepsOf = (path) => (String(path).match(/[^.[\\]'"]+/g) ?? []);
const member = (item, path) =>
  item !== null && typeof item === 'object' && path in item ? item[path] : stepsOf(path).reduce((at, step) => at?.[step], item);
const setMember = (item, path, value) => {
  const steps = stepsOf(path);
  const last = steps.pop();
  let at = item;
  for (const step of steps) at = at[step] = at[step] !== null && typeof at[step] === 'object' ? at[step] : {};
  if (last !== undefined) at[last] = value;
  return item;
};
const removeMember = (item, path) => {
  const steps = stepsOf(path);
  const last = steps.pop();
  const at = steps.reduce((value, step) => value?.[step], item);
  if (at !== null && typeof at === 'object') delete at[last];
  return item;
};`,
};

const TEST: ShimPart = {
  name: 'test',
  needs: /\btest\(/,
  uses: ['isEmpty'],
  source: `const test = (type, operation, left, right, options = {}) => {
  const cased = (value) => (options.ignoreCase && typeof value === 'string' ? value.toLowerCase() : value);
  const asNumber = (value) => (value === '' || value === null || value === undefined ? NaN : Number(value));
  const asTime = (value) => (value?.toMillis ? value.toMillis() : typeof value === 'number' ? value : Date.parse(value));
  const asBoolean = (value) => (typeof value === 'string' ? value.toLowerCase() === 'true' || value === '1' : Boolean(value));
  const asText = (value) => cased(value === undefined || value === null ? '' : typeof value === 'object' && !value.toISO ? JSON.stringify(value) : String(value));
  const convert = { number: asNumber, dateTime: asTime, boolean: asBoolean, string: asText }[type] ?? cased;
  const a = convert(left);
  const b = type === 'array' && typeof right === 'number' ? right : convert(right);
  const list = Array.isArray(left) ? left.map(cased) : [];
  const regex = () => {
    const [, pattern, flags] = /^\\/(.*)\\/([a-z]*)$/s.exec(String(right)) ?? [null, String(right), ''];
    return new RegExp(pattern, flags).test(String(left ?? ''));
  };
  switch (operation) {
    case 'equals': case 'equal': return a === b;
    case 'notEquals': case 'notEqual': return a !== b;
    case 'contains': return type === 'array' ? list.includes(cased(right)) : a.includes(b);
    case 'notContains': return type === 'array' ? !list.includes(cased(right)) : !a.includes(b);
    case 'startsWith': return a.startsWith(b);
    case 'notStartsWith': return !a.startsWith(b);
    case 'endsWith': return a.endsWith(b);
    case 'notEndsWith': return !a.endsWith(b);
    case 'regex': return regex();
    case 'notRegex': return !regex();
    case 'gt': case 'larger': case 'after': return a > b;
    case 'lt': case 'smaller': case 'before': return a < b;
    case 'gte': case 'largerEqual': case 'afterOrEquals': return a >= b;
    case 'lte': case 'smallerEqual': case 'beforeOrEquals': return a <= b;
    case 'true': return a === true;
    case 'false': return a === false;
    case 'exists': return left !== undefined && left !== null;
    case 'notExists': return left === undefined || left === null;
    case 'empty': case 'isEmpty': return isEmpty(left);
    case 'notEmpty': case 'isNotEmpty': return !isEmpty(left);
    case 'lengthEquals': return list.length === Number(right);
    case 'lengthNotEquals': return list.length !== Number(right);
    case 'lengthGt': return list.length > Number(right);
    case 'lengthLt': return list.length < Number(right);
    case 'lengthGte': return list.length >= Number(right);
    case 'lengthLte': return list.length <= Number(right);
    default: throw new Error('unknown comparison ' + operation);
  }
};`,
};

const EMPTY: ShimPart = {
  name: 'isEmpty',
  needs: /\bisEmpty\((?!\))/,
  source: `const isEmpty = (value) =>
  value === undefined || value === null || value === '' || Number.isNaN(value) ||
  (typeof value === 'object' && !value.toISO && Object.keys(value).length === 0);`,
};

const ORDER: ShimPart = {
  name: 'sorted',
  needs: /\bsorted\(/,
  uses: ['member'],
  source: `const sorted = (list, fields) => {
  const plain = (value) => (typeof value === 'string' ? value.toLowerCase() : value);
  const compare = (a, b) => (a === b ? 0 : a === undefined || a === null ? 1 : b === undefined || b === null ? -1 : a < b ? -1 : 1);
  return [...list].sort((one, other) => {
    for (const [field, sign] of fields) {
      const result = sign * compare(plain(member(one, field)), plain(member(other, field)));
      if (result !== 0) return result;
    }
    return 0;
  });
};`,
};

const UNIQUE: ShimPart = {
  name: 'distinctItems',
  needs: /\bdistinctItems\(/,
  uses: ['member'],
  source: `const distinctItems = (list, keyOf) => {
  const known = new Set();
  return list.filter((item) => {
    const key = JSON.stringify(keyOf(item)) ?? '';
    if (known.has(key)) return false;
    known.add(key);
    return true;
  });
};`,
};

const PAIRED: ShimPart = {
  name: 'paired',
  needs: /\bpaired\(/,
  source: `const paired = (before, after) => {
  if (before.length === after.length) return after.map((_, at) => at);
  if (before.length === 1) return after.map(() => 0);
  throw new Error('of ' + before.length + ' items before a Code node none belongs to one of the ' + after.length + ' behind it');
};`,
};

const MERGED: ShimPart = {
  name: 'merged',
  needs: /\bmerged\(/,
  source: `const merged = (...values) => values.reduce((target, value) => {
  if (value === undefined) return target;
  if (value === null || typeof value !== 'object' || target === null || typeof target !== 'object') return value;
  const result = Array.isArray(target) ? [...target] : { ...target };
  for (const [name, each] of Object.entries(value)) result[name] = merged(result[name], each);
  return result;
}, undefined);`,
};

const JOIN: ShimPart = {
  name: 'joined',
  needs: /\bjoined\(/,
  uses: ['member', 'merged'],
  source: `const joined = (left, right, pairs, { mode, from, prefer = 'input2', multiple = 'all' }) => {
  const keyOf = (item, side) => JSON.stringify(pairs.map((pair) => String(member(item, pair[side]))));
  const byKey = new Map();
  for (const item of right) {
    const key = keyOf(item, 1);
    if (!byKey.has(key)) byKey.set(key, []);
    byKey.get(key).push(item);
  }
  const combined = (a, b) => (prefer === 'input1' ? merged(b, a) : merged(a, b));
  const used = new Set();
  const matches = [];
  const leftOnly = [];
  for (const item of left) {
    const others = byKey.get(keyOf(item, 0)) ?? [];
    if (others.length === 0) leftOnly.push(item);
    for (const other of others) used.add(other);
    for (const other of multiple === 'first' ? others.slice(0, 1) : others) matches.push([item, other]);
  }
  const rightOnly = right.filter((item) => !used.has(item));
  const both = matches.map(([a, b]) => combined(a, b));
  if (mode === 'keepNonMatches') return from === 'input1' ? leftOnly : from === 'input2' ? rightOnly : [...leftOnly, ...rightOnly];
  if (mode === 'keepEverything') return [...both, ...leftOnly, ...rightOnly];
  if (mode === 'enrichInput1') return left.flatMap((item) => { const found = matches.filter(([a]) => a === item); return found.length > 0 ? found.map(([a, b]) => combined(a, b)) : [item]; });
  if (mode === 'enrichInput2') return right.flatMap((item) => { const found = matches.filter(([, b]) => b === item); return found.length > 0 ? found.map(([a, b]) => combined(a, b)) : [item]; });
  if (from === 'input1') return [...new Set(matches.map(([a]) => a))];
  if (from === 'input2') return [...used];
  return both;
};`,
};

const SUMMARY: ShimPart = {
  name: 'summarized',
  needs: /\bsummarized\(/,
  uses: ['member', 'isEmpty'],
  source: `const summarized = (list, groups, fields) => {
  const byKey = new Map();
  for (const item of list) {
    const key = JSON.stringify(groups.map((group) => member(item, group)));
    if (!byKey.has(key)) byKey.set(key, []);
    byKey.get(key).push(item);
  }
  const numbers = (values) => values.map(Number).filter((value) => !Number.isNaN(value));
  const total = (values) => numbers(values).reduce((sum, value) => sum + value, 0);
  const compute = {
    append: (values) => values, appendUnique: undefined, concatenate: (values, by) => values.join(by),
    count: (values) => values.length, countUnique: (values) => new Set(values.map((value) => JSON.stringify(value))).size,
    sum: total, average: (values) => (values.length === 0 ? null : total(values) / numbers(values).length),
    min: (values) => (values.length === 0 ? null : Math.min(...numbers(values))), max: (values) => (values.length === 0 ? null : Math.max(...numbers(values))),
  };
  return [...byKey.values()].map((items) => {
    const result = Object.fromEntries(groups.map((group) => [group, member(items[0], group)]));
    for (const { field, aggregation, includeEmpty, separator } of fields) {
      const values = items.map((item) => member(item, field)).filter((value) => includeEmpty || !isEmpty(value));
      const prefix = { append: 'appended', concatenate: 'concatenated', countUnique: 'unique_count', average: 'average', count: 'count', max: 'max', min: 'min', sum: 'sum' }[aggregation] ?? aggregation;
      result[prefix + '_' + String(field).replaceAll('.', '_')] = compute[aggregation](values, separator);
    }
    return result;
  });
};`,
};

export const DATA: readonly ShimPart[] = [MEMBER, EMPTY, TEST, ORDER, UNIQUE, PAIRED, MERGED, JOIN, SUMMARY];
