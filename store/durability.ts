/** Settings of the server by which it would lose what it confirmed, as far as `INFO` shows them. */
import { orUnavailable, type RunStoreConnection, type Unavailable } from './connection.ts';

/**
 * What an existing server may have set otherwise than docs/run-store.md asks for: a restart loses
 * everything since its last snapshot; keys are removed when the memory is full; the last write to the
 * append-only file failed.
 */
export const DURABILITY_PROBLEMS = ['NoAppendOnlyFile', 'EvictsKeys', 'LogNotWritable'] as const;
export type DurabilityProblem = (typeof DURABILITY_PROBLEMS)[number];

/**
 * The problems in the answers of `INFO persistence` and `INFO memory`. A field that is left out shows
 * none. Pure.
 */
export function durabilityProblems(info: string): DurabilityProblem[] {
  const field = (name: string) => new RegExp(`^${name}:(\\S*)`, 'm').exec(info)?.[1];
  const problems: DurabilityProblem[] = [];
  if (field('aof_enabled') === '0') problems.push('NoAppendOnlyFile');
  if ((field('maxmemory_policy') ?? 'noeviction') !== 'noeviction') problems.push('EvictsKeys');
  if ((field('aof_last_write_status') ?? 'ok') !== 'ok') problems.push('LogNotWritable');
  return problems;
}

/** Reads those of all primaries. Needs no `CONFIG`, which managed services refuse. */
export function readDurability(conn: RunStoreConnection): Promise<DurabilityProblem[] | Unavailable> {
  return orUnavailable(async () => {
    const found = await Promise.all(
      (await conn.primaries()).map(async ({ command }) => {
        const parts = await Promise.all(['persistence', 'memory'].map((part) => command('info', part)));
        return durabilityProblems(parts.join('\n'));
      }),
    );
    return DURABILITY_PROBLEMS.filter((problem) => found.some((problems) => problems.includes(problem)));
  });
}
