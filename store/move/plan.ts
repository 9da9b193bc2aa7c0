/** What a call of the move does next. Pure. */

/** What the source remembers. `cancelled`: its projects are open again. */
export type SourceMark = { token: string; state: 'moving' | 'cancelled' | 'moved'; to: string };
/** What the target remembers. `verified`: it has all data, and some projects may be open. */
export type TargetMark = { token: string; state: 'copying' | 'verified' | 'done' };

export type Found = {
  source: SourceMark | undefined;
  target: TargetMark | undefined;
  /** Whether the target has other keys of Windlass. */
  isTargetEmpty: boolean;
};

export type Plan =
  /** The first call. */
  | { step: 'begin' }
  /** Goes on where an earlier call was interrupted, or found differences. */
  | { step: 'continue' }
  /** Everything was copied and compared: only the projects are to be opened. */
  | { step: 'open' }
  | { step: 'nothing'; why: string }
  | { step: 'refuse'; why: string };

const refuse = (why: string): Plan => ({ step: 'refuse', why });
const FOREIGN =
  'the target has keys of Windlass that this move did not write: use an empty Redis, or remove its keys wl:* first';

/** What to do with these two stores. */
export function planOf({ source, target, isTargetEmpty }: Found): Plan {
  if (source && target && source.token === target.token) return continued(source, target);
  if (source?.state === 'moved')
    return refuse(`the source was moved to ${source.to}, and its data is out of date: do not move it again`);
  if (target || !isTargetEmpty) return refuse(FOREIGN);
  return { step: 'begin' };
}

function continued(source: SourceMark, target: TargetMark): Plan {
  if (target.state === 'copying') return { step: 'continue' };
  if (source.state === 'moved' && target.state === 'done')
    return { step: 'nothing', why: 'the source was moved to this target before' };
  return { step: 'open' };
}

/** Whether the move may be cancelled: why not, or undefined. */
export function whyNotCancelled({ source, target }: Pick<Found, 'source' | 'target'>): string | undefined {
  if (source === undefined) return 'no move of this source has begun';
  if (source.state === 'moved' || (target?.token === source.token && target.state !== 'copying'))
    return 'the target has all data, and may be in use: finish the move';
  return undefined;
}

/**
 * Keys that one round trip reads. A page of large values must fit into memory, and one of small values is to
 * take few round trips.
 */
const FEWEST = 16;
const MOST = 512;
const FEW_BYTES = 2 * 1024 * 1024;
const MANY_BYTES = 8 * 1024 * 1024;

/** How many keys to read next, after `size` keys had so many bytes. */
export function nextSize(size: number, bytes: number): number {
  if (bytes > MANY_BYTES) return Math.max(FEWEST, Math.floor(size / 4));
  return bytes < FEW_BYTES ? Math.min(MOST, size * 2) : size;
}

/** The size of the first page. */
export const FIRST_SIZE = FEWEST;

/** What a server says about itself, as far as it shows it. */
export type ServerFacts = { isMember: boolean; runId: string; version: string; used: number; max: number };

/** The facts in the answer of `INFO`. */
export function factsIn(info: string): ServerFacts {
  const field = (name: string) => new RegExp(`^${name}:(\\S*)`, 'm').exec(info)?.[1] ?? '';
  const valkey = field('valkey_version');
  return {
    isMember: field('cluster_enabled') === '1',
    runId: field('run_id'),
    version: valkey === '' ? `Redis ${field('redis_version')}` : `Valkey ${valkey}`,
    used: Number(field('used_memory') || 0),
    max: Number(field('maxmemory') || 0),
  };
}

/** Why these servers cannot be the source and the target; empty: they can. */
export function serverProblems(source: readonly ServerFacts[], target: readonly ServerFacts[]): string[] {
  const problems = [...source, ...target]
    .filter(({ version }) => Number(/ (\d+)/.exec(version)?.[1] ?? 7) < 7)
    .map(({ version }) => `${version} is too old: Windlass needs Redis 7, or Valkey`);
  if (source.some(({ runId }) => runId !== '' && target.some((server) => server.runId === runId)))
    problems.push('source and target are the same server');
  const used = source.reduce((sum, server) => sum + server.used, 0);
  const free = target.reduce(
    (sum, { max, used: taken }) => sum + (max > 0 ? max - taken : Number.POSITIVE_INFINITY),
    0,
  );
  if (used > free)
    problems.push(
      `the source uses ${mebibytes(used)}, and the target has room for ${mebibytes(free)}: raise its maxmemory`,
    );
  return [...new Set(problems)];
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}

/**
 * The named connections of programs in the answer of `CLIENT LIST`: without replicas, sentinels and this
 * program.
 */
export function programsIn(list: string, own: string): string[] {
  return list.split('\n').flatMap((line) => {
    const field = (name: string) => new RegExp(`(?:^| )${name}=(\\S*)`).exec(line)?.[1] ?? '';
    const name = field('name');
    const isOther =
      name === '' || name === own || name.startsWith('sentinel-') || /[SM]/.test(field('flags'));
    return isOther ? [] : [`${name} (${field('addr')})`];
  });
}
