/**
 * What a benchmark found: as a table for people and as JSON for comparisons. Ratios are within one run on one
 * machine.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { commitHash } from '../support/process/commit.ts';

export type Figure = {
  name: string;
  value: number;
  unit: string;
  /** What the value is set against: the value divided by that of the base, in the same run. */
  ratio?: { to: string; value: number };
  /** What the value must be, where something was promised. */
  goal?: { at: 'least' | 'most'; value: number; of: 'value' | 'ratio' };
};

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Prints the figures, writes docs/benchmarks/NAME.json, and says whether all goals were met. */
export async function report(name: string, figures: Figure[]): Promise<boolean> {
  console.table(figures.map(row));
  const folder = `${root}docs/benchmarks`;
  await mkdir(folder, { recursive: true });
  const content = { name, machine: machine(), figures: figures.map(forFile), commit: await commitHash() };
  await writeFile(`${folder}/${name}.json`, `${JSON.stringify(content, null, 2)}\n`);
  console.log(`written: docs/benchmarks/${name}.json`);
  return figures.every(isMet);
}

function row(figure: Figure): Record<string, string> {
  const { name, value, unit, ratio, goal } = figure;
  const wanted = goal && `${goal.of} at ${goal.at} ${goal.value}`;
  return {
    figure: name,
    value: `${readable(value)} ${unit}`,
    ratio: ratio === undefined ? '' : `${ratio.value.toFixed(3)} × ${ratio.to}`,
    goal: wanted === undefined ? '' : `${wanted}: ${isMet(figure) ? 'met' : 'MISSED'}`,
  };
}

function isMet({ value, ratio, goal }: Figure): boolean {
  if (goal === undefined) return true;
  const found = goal.of === 'ratio' ? (ratio?.value ?? Number.NaN) : value;
  return goal.at === 'least' ? found >= goal.value : found <= goal.value;
}

function forFile({ name, value, unit, ratio }: Figure): object {
  return { name, value: rounded(value), unit, ...(ratio && { ratio: rounded(ratio.value) }) };
}

function machine(): object {
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cpus: processors.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
}

function readable(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-GB') : String(rounded(value));
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

/** The middle value; of an even number the upper one of the two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error('There is no median of nothing.');
  return middle;
}
