/** The methods that n8n adds to texts, numbers, lists and objects in expressions. */
import type { ShimPart } from './part.ts';

type Methods = Record<string, string>;

const STRINGS: Methods = {
  isEmpty: `() { return String(this) === ''; }`,
  isNotEmpty: `() { return String(this) !== ''; }`,
  toNumber: `() { return Number(this); }`,
  toInt: `() { return parseInt(this, 10); }`,
  toFloat: `() { return parseFloat(this); }`,
  toBoolean: `() { return !['', 'false', '0', 'no'].includes(String(this).toLowerCase()); }`,
  toDateTime: `() { return DateTime.fromISO(String(this)); }`,
  extractEmail: `() { return /[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+/.exec(this)?.[0]; }`,
  extractDomain: `() { return /(?:https?:\\/\\/|@|^)([\\w-]+(?:\\.[\\w-]+)+)/.exec(this)?.[1]; }`,
  extractUrl: `() { return /https?:\\/\\/[^\\s"'<>]+/.exec(this)?.[0]; }`,
  removeTags: `() { return this.replace(/<[^>]*>/g, ''); }`,
  removeMarkdown: `() { return this.replace(/[*_~\\x60#>]/g, ''); }`,
  toTitleCase: `() { return this.replace(/\\S+/g, (word) => word[0].toUpperCase() + word.slice(1).toLowerCase()); }`,
  toSentenceCase: `() { return this.toLowerCase().replace(/(^\\s*|[.!?]\\s+)(\\S)/g, (all, before, first) => before + first.toUpperCase()); }`,
  toSnakeCase: `() { return this.trim().toLowerCase().replace(/[\\s-]+/g, '_'); }`,
  urlEncode: `() { return encodeURIComponent(this); }`,
  urlDecode: `() { return decodeURIComponent(this); }`,
  base64Encode: `() { return btoa(Array.from(new TextEncoder().encode(this), (byte) => String.fromCharCode(byte)).join('')); }`,
  base64Decode: `() { return new TextDecoder().decode(Uint8Array.from(atob(this), (c) => c.charCodeAt(0))); }`,
  parseJson: `() { try { return JSON.parse(this); } catch { return undefined; } }`,
  quote: `(mark = '"') { return mark + this.replaceAll(mark, '\\\\' + mark) + mark; }`,
  replaceSpecialChars: `() { return this.normalize('NFKD').replace(/[\\u0300-\\u036f]/g, ''); }`,
  isEmail: `() { return /^[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+$/.test(this); }`,
  isUrl: `() { return /^https?:\\/\\/\\S+$/.test(this); }`,
  isNumeric: `() { return this.trim() !== '' && !Number.isNaN(Number(this)); }`,
};

const LISTS: Methods = {
  first: `() { return this[0]; }`,
  last: `() { return this[this.length - 1]; }`,
  isEmpty: `() { return this.length === 0; }`,
  isNotEmpty: `() { return this.length > 0; }`,
  pluck: `(...names) { return this.map((item) => (names.length === 1 ? item?.[names[0]] : Object.fromEntries(names.map((name) => [name, item?.[name]])))); }`,
  unique: `() { const known = new Set(); return this.filter((item) => { const key = JSON.stringify(item); return known.has(key) ? false : known.add(key); }); }`,
  removeDuplicates: `() { const known = new Set(); return this.filter((item) => { const key = JSON.stringify(item); return known.has(key) ? false : known.add(key); }); }`,
  sum: `() { return this.reduce((total, value) => total + Number(value), 0); }`,
  average: `() { return this.length === 0 ? 0 : this.reduce((total, value) => total + Number(value), 0) / this.length; }`,
  min: `() { return Math.min(...this); }`,
  max: `() { return Math.max(...this); }`,
  chunk: `(size) { return Array.from({ length: Math.ceil(this.length / size) }, (_, at) => this.slice(at * size, (at + 1) * size)); }`,
  compact: `() { return this.filter((item) => item !== null && item !== undefined && item !== ''); }`,
  randomItem: `() { return this[Math.floor(Math.random() * this.length)]; }`,
  toJsonString: `() { return JSON.stringify(this); }`,
  difference: `(other) { return this.filter((item) => !other.includes(item)); }`,
  intersection: `(other) { return this.filter((item) => other.includes(item)); }`,
  union: `(other) { return [...new Set([...this, ...other])]; }`,
  append: `(...items) { return [...this, ...items]; }`,
  smartJoin: `(key, value) { return Object.fromEntries(this.map((item) => [item[key], item[value]])); }`,
};

const OBJECTS: Methods = {
  isEmpty: `() { return Object.keys(this).length === 0; }`,
  isNotEmpty: `() { return Object.keys(this).length > 0; }`,
  keys: `() { return Object.keys(this); }`,
  values: `() { return Object.values(this); }`,
  hasField: `(name) { return Object.hasOwn(this, name); }`,
  removeField: `(name) { const { [name]: removed, ...rest } = this; return rest; }`,
  compact: `() { return Object.fromEntries(Object.entries(this).filter(([, value]) => value !== null && value !== undefined && value !== '')); }`,
  toJsonString: `() { return JSON.stringify(this); }`,
  merge: `(other) { return { ...other, ...this }; }`,
  urlEncode: `() { return new URLSearchParams(this).toString(); }`,
};

const NUMBERS: Methods = {
  round: `(digits = 0) { return Math.round(this * 10 ** digits) / 10 ** digits; }`,
  ceil: `() { return Math.ceil(this); }`,
  floor: `() { return Math.floor(this); }`,
  abs: `() { return Math.abs(this); }`,
  isEven: `() { return this % 2 === 0; }`,
  isOdd: `() { return Math.abs(this % 2) === 1; }`,
  isInteger: `() { return Number.isInteger(Number(this)); }`,
  toBoolean: `() { return Number(this) !== 0; }`,
  toNumber: `() { return Number(this); }`,
  toInt: `() { return Math.trunc(this); }`,
  toDateTime: `() { return DateTime.fromMillis(Number(this)); }`,
  isEmpty: `() { return false; }`,
  isNotEmpty: `() { return true; }`,
};

const DATES: Methods = {
  format: `(pattern) { return new DateTime(this.getTime()).toFormat(pattern); }`,
  plus: `(amount, unit) { return new DateTime(this.getTime()).plus(amount, unit); }`,
  minus: `(amount, unit) { return new DateTime(this.getTime()).minus(amount, unit); }`,
  toDateTime: `() { return new DateTime(this.getTime()); }`,
};

const partsOf = (type: string, methods: Methods): ShimPart[] =>
  Object.entries(methods).map(([name, source]) => ({
    name: `${type}.${name}`,
    needs: new RegExp(String.raw`(?<!\b(?:Object|Math|Number|Array|JSON)|\$input|\$\([^)]*\))\??\.${name}\(`),
    uses: source.includes('DateTime') ? ['DateTime'] : [],
    source: `if (!(${JSON.stringify(name)} in ${type}.prototype)) Object.defineProperty(${type}.prototype, ${JSON.stringify(name)}, { value: function ${source}, writable: true, configurable: true });`,
  }));

/** Methods that code defines for objects would hide those of lists and texts, so that objects are last. */
export const METHODS: readonly ShimPart[] = [
  ...partsOf('String', STRINGS),
  ...partsOf('Array', LISTS),
  ...partsOf('Number', NUMBERS),
  ...partsOf('Date', DATES),
  ...partsOf('Object', OBJECTS),
];
