/** What a project is charged with: the bytes of its runs, as long as they wait for their end or their record. */
import { RUN_OVERHEAD_BYTES } from '../../runs/submit.ts';
import type { DumpedKey } from './state.ts';

/** What a run's own fields may add to the overhead: the key of its event, and the names of fields. */
const SLACK_BYTES = 1_200;

/** Where the sums differ from what is there. */
export function bytesProblems(dump: readonly DumpedKey[], prefix: string): string[] {
  const runs = dump.filter(({ key }) => key.startsWith(`${prefix}run:`)).map(({ key, value }) => ({ key, ...chargeOf(value) }));
  const meta = fieldsOf(dump.find(({ key }) => key === `${prefix}meta`)?.value ?? []);
  const sum = runs.reduce((total, { charged, isDropped }) => total + (isDropped ? 0 : charged), 0);
  const total = Number(meta.get('bytes') ?? 0);
  const wrong = runs.filter(({ charged, held }) => charged < held || charged > held + SLACK_BYTES);
  return [
    ...wrong.map(({ key, charged, held }) => `${key} is charged with ${charged} bytes and holds ${held}`),
    ...(total === sum ? [] : [`the project is charged with ${total} bytes, its runs with ${sum}`]),
  ];
}

function chargeOf(value: string[]): { charged: number; held: number; isDropped: boolean } {
  const fields = fieldsOf(value);
  const counted = [...fields].filter(([name]) => name === 'input' || name === 'reply' || name.startsWith('n:'));
  const held = counted.reduce((sum, [, text]) => sum + Buffer.byteLength(text), RUN_OVERHEAD_BYTES);
  return { charged: Number(fields.get('bytes')), held, isDropped: fields.has('dropped') };
}

function fieldsOf(value: readonly string[]): Map<string, string> {
  return new Map(Array.from({ length: value.length / 2 }, (_, at) => [value[at * 2] ?? '', value[at * 2 + 1] ?? '']));
}
