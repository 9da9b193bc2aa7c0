/**
 * What a project is charged with: the bytes of its runs until they are recorded, and of what outlives them
 * until it expires.
 */
import { DEDUPE_KEY_BYTES, RUN_OVERHEAD_BYTES, SUMMARY_OVERHEAD_BYTES } from '../../runs/room.ts';
import { TIMEOUT } from './reference/signaling.ts';
import type { DumpedKey } from './state.ts';

/** What a run's own fields may add to the overhead: the key of its event, and the names of fields. */
const SLACK_BYTES = 1_200;

/** The counters in `meta` that differ from the bytes of the keys that they count. */
export function bytesProblems(dump: readonly DumpedKey[], prefix: string): string[] {
  const meta = fieldsOf(dump.find(({ key }) => key === `${prefix}meta`)?.value ?? []);
  const counted = (name: string) => Number(meta.get(name) ?? 0);
  return [
    ...runProblems(dump, prefix, counted('bytes')),
    ...keyProblems(dump, prefix, {
      keys: counted('keys'),
      replies: counted('replies'),
      kept: counted('kept'),
    }),
    ...summaryProblems(dump, prefix, counted('summaries')),
  ];
}

function runProblems(dump: readonly DumpedKey[], prefix: string, counted: number): string[] {
  const runs = dump
    .filter(({ key }) => key.startsWith(`${prefix}run:`))
    .map(({ key, value }) => {
      const name = key.slice(`${prefix}run:`.length);
      const apart = itemBytes(dump, `${prefix}items:${name}`) + signalBytes(dump, `${prefix}signals:${name}`);
      return { key, ...chargeOf(value, apart) };
    });
  const sum = runs.reduce((total, { charged, isDropped }) => total + (isDropped ? 0 : charged), 0);
  const wrong = runs.filter(({ charged, stored }) => charged < stored || charged > stored + SLACK_BYTES);
  return [
    ...wrong.map(({ key, charged, stored }) => `${key} is charged with ${charged} bytes and holds ${stored}`),
    ...differing('runs', counted, sum),
  ];
}

/** What expires, by the counter in `meta`: dedupe keys, replies, and failed runs that can be resumed. */
type Expiring = 'keys' | 'replies' | 'kept';

/** What is counted and will not be taken off by time is of keys that do not expire. */
function keyProblems(
  dump: readonly DumpedKey[],
  prefix: string,
  counted: Record<Expiring, number>,
): string[] {
  const expiring: Record<Expiring, number> = { keys: 0, replies: 0, kept: 0 };
  for (const [name, bytes] of fieldsOf(dump.find(({ key }) => key === `${prefix}expiring`)?.value ?? []))
    expiring[name.split(' ')[0] as Expiring] += Number(bytes);
  const kept = dump.filter((entry) => entry.key.startsWith(`${prefix}dk:`) && entry.kept).length;
  return [
    ...differing('dedupe keys that do not expire', counted.keys - expiring.keys, kept * DEDUPE_KEY_BYTES),
    ...differing('replies that do not expire', counted.replies - expiring.replies, 0),
    ...differing('kept failed runs that do not expire', counted.kept - expiring.kept, 0),
  ];
}

function summaryProblems(dump: readonly DumpedKey[], prefix: string, counted: number): string[] {
  const lines = dump
    .filter(({ key }) => key.startsWith(`${prefix}lines:`))
    .flatMap(({ value }) => [...fieldsOf(value)]);
  const sum = lines.reduce((total, [, line]) => total + SUMMARY_OVERHEAD_BYTES + Buffer.byteLength(line), 0);
  return differing('summaries', counted, sum);
}

function differing(what: string, counted: number, found: number): string[] {
  return counted === found
    ? []
    : [`the project is charged with ${counted} bytes for ${what}, there are ${found}`];
}

/** The bytes of the items of a run; without their waits, which are not charged. */
function itemBytes(dump: readonly DumpedKey[], key: string): number {
  const fields = fieldsOf(dump.find((entry) => entry.key === key)?.value ?? []);
  return [...fields].reduce(
    (sum, [name, text]) => sum + (name.startsWith('w:') ? 0 : Buffer.byteLength(text)),
    0,
  );
}

/** The bytes of the signals of a run; without the ends of waits, which are not charged. */
function signalBytes(dump: readonly DumpedKey[], key: string): number {
  const fields = fieldsOf(dump.find((entry) => entry.key === key)?.value ?? []);
  return [...fields.values()].reduce(
    (sum, text) => sum + (text === TIMEOUT ? 0 : Buffer.byteLength(text)),
    0,
  );
}

function chargeOf(value: string[], apart: number): { charged: number; stored: number; isDropped: boolean } {
  const fields = fieldsOf(value);
  const counted = [...fields].filter(
    ([name]) => name === 'input' || name === 'reply' || name.startsWith('n:'),
  );
  const stored = counted.reduce((sum, [, text]) => sum + Buffer.byteLength(text), RUN_OVERHEAD_BYTES + apart);
  return { charged: Number(fields.get('bytes')), stored, isDropped: fields.has('dropped') };
}

function fieldsOf(value: readonly string[]): Map<string, string> {
  return new Map(
    Array.from({ length: value.length / 2 }, (_, at) => [value[at * 2] ?? '', value[at * 2 + 1] ?? '']),
  );
}
