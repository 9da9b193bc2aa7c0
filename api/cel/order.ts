/** The order and equality of CEL values. */
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { ExpressionError } from '../expression/errors.ts';
import { ExactNumber, identityOfNumber } from '../exact/exactNumber.ts';
import { entriesOf } from './size.ts';

export type Comparable = string | number | bigint | boolean | Date | Duration | UnsignedInt;

/**
 * Negative if `one` comes before `other`, 0 if they are equal. Strings compare by UTF-16 units.
 * @throws ExpressionError `Type` for values of different types, or that have no order
 */
export function compareValues(one: unknown, other: unknown): number {
  const left = orderOf(one);
  const right = orderOf(other);
  if (left.type !== right.type)
    throw new ExpressionError(
      'Type',
      `values to compare must be of one type, not ${left.type} and ${right.type}`,
    );
  if (left.value < right.value) return -1;
  return left.value > right.value ? 1 : 0;
}

function orderOf(value: unknown): { type: string; value: string | number | bigint } {
  if (typeof value === 'number' || typeof value === 'bigint') return { type: 'number', value };
  if (value instanceof UnsignedInt) return { type: 'number', value: value.value };
  if (typeof value === 'string') return { type: 'string', value };
  if (typeof value === 'boolean') return { type: 'bool', value: Number(value) };
  if (value instanceof Date) return { type: 'timestamp', value: value.getTime() };
  if (value instanceof Duration)
    return { type: 'duration', value: value.seconds * 1_000_000_000n + BigInt(value.nanos) };
  throw new ExpressionError(
    'Type',
    'only numbers, strings, booleans, timestamps and durations have an order',
  );
}

/**
 * A text that is the same for equal values: numbers of any type by value, objects whatever their key order.
 */
export function identityOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (isNumber(value)) return identityOfNumber(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(identityOf).join()}]`;
  if (value instanceof Uint8Array) return `b${String(value)}`;
  const entries = entriesOf(value);
  if (!entries) {
    const { type, value: order } = orderOf(value);
    return typeof order === 'bigint' && type === 'number' ? identityOfNumber(order) : `${type} ${order}`;
  }
  const members = entries.map(([key, member]) => `${identityOf(key)}:${identityOf(member)}`);
  return `{${members.toSorted().join()}}`;
}

/** Whether two values are equal: numbers of any type by their exact value, also inside lists and objects. */
export function equalValues(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (isNumber(one) && isNumber(other)) return areEqualNumbers(one, other);
  if (Array.isArray(one)) return Array.isArray(other) && equalLists(one, other);
  const members = typeof one === 'object' && one !== null ? entriesOf(one) : undefined;
  if (!members) return isObject(one) && isObject(other) && identityOf(one) === identityOf(other);
  const others = isObject(other) && !Array.isArray(other) ? entriesOf(other) : undefined;
  if (members.length !== others?.length) return false;
  const byKey = new Map(others.map(([key, member]) => [identityOf(key), member]));
  return members.every(([key, member]) => {
    const identity = identityOf(key);
    return byKey.has(identity) && equalValues(member, byKey.get(identity));
  });
}

function equalLists(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, index) => equalValues(item, other[index]));
}

function areEqualNumbers(one: ExactNumber | number | bigint, other: ExactNumber | number | bigint): boolean {
  if (typeof one === 'number' && typeof other === 'number') return false;
  return identityOfNumber(one) === identityOfNumber(other);
}

function isNumber(value: unknown): value is ExactNumber | number | bigint {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof ExactNumber;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
