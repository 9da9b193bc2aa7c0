/**
 * The JavaScript that prepares a fresh context, before the sandbox copies its memory. It keeps the built-ins
 * that it uses, so that no code can change what it does. Its value is an object with the functions that the
 * host calls.
 */

/** The name of the host function that takes a text of the log. */
export const LOG_FUNCTION = 'log';

/** The names of the host functions that format. */
export const FORMAT_FUNCTIONS = { date: 'formatDate', number: 'formatNumber' } as const;

/** How the answer of a host function that formats begins, before its text. */
export const ANSWER = { text: 't', problem: 'p' } as const;

/** How a result begins: the kind of the outcome, before its text. */
export const OUTCOME = { value: 'v', refused: 'r', large: 'l', thrown: 't', pending: 'p' } as const;

export const PRELUDE = String.raw`(function (writeLog, mostOutput, hostDate, hostNumber) {
  'use strict';
  const { parse, stringify, rawJSON } = JSON;
  const { apply, defineProperty } = Reflect;
  const { isSafeInteger, isFinite } = Number;
  const { slice, startsWith, replace } = String.prototype;
  const { test } = RegExp.prototype;
  const { then } = Promise.prototype;
  const { join } = Array.prototype;
  const $String = String, $BigInt = BigInt, $Error = Error, $Number = Number;
  const { getPrototypeOf } = Object;
  // What only the engine throws: code must not make one that names a limit.
  const engineError = InternalError.prototype;
  delete globalThis.InternalError;
  delete engineError.constructor;
  const nodes = {};
  let outcome = '${OUTCOME.pending}';
  for (const [name, value] of [['nodes', nodes], ['item'], ['index'], ['previous'], ['run'], ['vars']])
    defineProperty(globalThis, name, { value, writable: true, configurable: true });

  const exactly = (key, value, context) => {
    if (typeof value !== 'number') return value;
    const { source } = context;
    if (isSafeInteger(value)) return value;
    if (apply(test, /^-?\d+$/, [source])) return $BigInt(source);
    return !isFinite(value) || canonical(source) !== canonical($String(value)) ? source : value;
  };
  // Digits without leading and trailing zeros, and the exponent of the last one.
  const canonical = (text) => {
    const [, sign, whole, part = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [text, '', text];
    const digits = apply(replace, whole + part, [/^0+/, '']);
    const significant = apply(replace, digits, [/0+$/, '']);
    return sign + significant + 'e' + ($Number(exponent) - part.length + digits.length - significant.length);
  };
  const read = (text, isExact) => (isExact ? parse(text, exactly) : parse(text));

  const texts = (value) => {
    if (typeof value === 'string') return value;
    if (typeof value === 'object' && value instanceof $Error) return $String(value.name) + ': ' + $String(value.message);
    try {
      return stringify(value, digits) ?? $String(value);
    } catch {
      return $String(value);
    }
  };
  const digits = (key, value) => (typeof value === 'bigint' ? rawJSON($String(value)) : value);

  const write = (...values) => {
    const line = [];
    for (let at = 0; at < values.length; at += 1) defineProperty(line, at, { value: texts(values[at]) });
    writeLog(apply(slice, apply(join, line, [' ']), [0, 20000]));
  };
  defineProperty(globalThis, 'console', {
    value: { log: write, info: write, warn: write, error: write, debug: write },
    writable: true,
    configurable: true,
  });

  const $Date = Date, $TypeError = TypeError;
  const { getTime } = Date.prototype;
  const answered = (answer) => {
    const text = apply(slice, answer, [1]);
    if (answer[0] !== '${ANSWER.text}') throw new $TypeError(text);
    return text;
  };
  // The host refuses texts of this length, and must not copy longer ones.
  const bounded = (text) => apply(slice, text, [0, 1000]);
  const timeOf = (value) => {
    if (typeof value === 'number') return value;
    if (typeof value === 'string') return apply(getTime, new $Date(value), []);
    try {
      return apply(getTime, value, []);
    } catch {
      return NaN;
    }
  };
  const formats = {
    formatDate(value, pattern, timeZone = 'UTC') {
      if (typeof pattern !== 'string' || typeof timeZone !== 'string')
        throw new $TypeError("formatDate(): write formatDate(value, 'yyyy-MM-dd', 'Europe/Berlin')");
      return answered(hostDate(timeOf(value), bounded(pattern), bounded(timeZone)));
    },
    formatNumber(value, options = {}) {
      const isNumber = typeof value === 'number' || typeof value === 'bigint';
      if (!(isNumber || typeof value === 'string') || typeof options !== 'object' || options === null)
        throw new $TypeError("formatNumber(): write formatNumber(1234.5, { locale: 'de-DE' })");
      return answered(hostNumber(bounded($String(value)), bounded(stringify(options, digits) ?? '')));
    },
  };
  for (const name of ['formatDate', 'formatNumber'])
    defineProperty(globalThis, name, { value: formats[name], writable: true, configurable: true });

  // The extension lacks it. Changes of the parameters change the URL.
  const parameters = new WeakMap();
  const $URLSearchParams = URLSearchParams;
  defineProperty(URL.prototype, 'searchParams', {
    get() {
      const known = parameters.get(this);
      if (known !== undefined && known.search === this.search) return known.list;
      const list = new $URLSearchParams(this.search);
      const entry = { list, search: this.search };
      for (const name of ['append', 'delete', 'set', 'sort']) {
        const change = list[name];
        const value = (...values) => {
          apply(change, list, values);
          this.search = $String(list);
          entry.search = this.search;
        };
        defineProperty(list, name, { value, configurable: true, writable: true });
      }
      parameters.set(this, entry);
      return list;
    },
    configurable: true,
    enumerable: true,
  });

  const seeded = (a, b, c, d) => {
    const next = () => {
      const sum = (a + b + d) | 0;
      d = (d + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = ((c << 21) | (c >>> 11)) + sum | 0;
      return sum >>> 0;
    };
    for (let skipped = 0; skipped < 12; skipped += 1) next();
    return () => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992;
  };

  const described = (error) => {
    if (typeof error !== 'object' || error === null || !(error instanceof $Error))
      return { message: apply(slice, 'a value that is not an Error: ' + texts(error), [0, 2000]) };
    return {
      name: apply(slice, $String(error.name), [0, 200]),
      message: apply(slice, $String(error.message), [0, 2000]),
      stack: apply(slice, $String(error.stack), [0, 8000]),
      isOfEngine: getPrototypeOf(error) === engineError,
    };
  };
  const settle = (kind, text) => {
    outcome = kind + text;
  };
  const returned = (value) => {
    const type = typeof value;
    if (type === 'function' || type === 'symbol') return settle('${OUTCOME.refused}', 'a ' + type);
    let text;
    try {
      text = stringify(value, digits) ?? 'null';
    } catch (error) {
      const { name, message } = described(error);
      if (name === 'TypeError' && apply(startsWith, message, ['circular'])) return settle('${OUTCOME.refused}', 'an object that contains itself');
      return thrown(error);
    }
    if (text.length > mostOutput) return settle('${OUTCOME.large}', text.length);
    settle('${OUTCOME.value}', text);
  };
  const thrown = (error) => {
    let text;
    try {
      text = stringify(described(error));
    } catch {
      text = '{"message":"a value that cannot be read"}';
    }
    settle('${OUTCOME.thrown}', text);
  };

  const lazily = (text, isExact) => {
    let value, isRead = false;
    return () => {
      if (!isRead) value = read(text, isExact);
      isRead = true;
      return value;
    };
  };
  return {
    node(id, text, isExact) {
      defineProperty(nodes, id, { get: lazily(text, isExact), enumerable: true, configurable: true });
    },
    value(name, text, isExact) {
      defineProperty(globalThis, name, { value: read(text, isExact), writable: true, configurable: true });
    },
    start(code, a, b, c, d) {
      Math.random = seeded(a, b, c, d);
      apply(then, code(), [returned, thrown]);
    },
    outcome: () => outcome,
  };
})`;
