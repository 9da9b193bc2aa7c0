/** What servers report about themselves, and whether it rules them out as source or target. Pure. */

/**
 * The facts of one server. Managed services hide some of them. `isMember`: it belongs to a Redis Cluster.
 * `isReplica`: it copies another server. `runId`: it changes with each start; empty if hidden. `used`,
 * `max`: memory in bytes; `max` 0: no limit.
 */
export type ServerFacts = {
  isMember: boolean;
  isReplica: boolean;
  runId: string;
  version: string;
  used: number;
  max: number;
};

/** Parses the answer of `INFO`. */
export function parseFacts(info: string): ServerFacts {
  const field = (name: string) => new RegExp(`^${name}:(\\S*)`, 'm').exec(info)?.[1] ?? '';
  const valkey = field('valkey_version');
  return {
    isMember: field('cluster_enabled') === '1',
    isReplica: field('role') === 'slave',
    runId: field('run_id'),
    version: valkey === '' ? `Redis ${field('redis_version')}` : `Valkey ${valkey}`,
    used: Number(field('used_memory') || 0),
    max: Number(field('maxmemory') || 0),
  };
}

/** Why Windlass cannot move data between these servers; empty if it can. */
export function serverProblems(source: readonly ServerFacts[], target: readonly ServerFacts[]): string[] {
  const problems = [...source, ...target]
    .filter(({ version }) => Number(/ (\d+)/.exec(version)?.[1] ?? 7) < 7)
    .map(({ version }) => `${version} is too old: Windlass needs Redis 7, or Valkey`);
  if (source.some(({ runId }) => runId !== '' && target.some((server) => server.runId === runId)))
    problems.push('source and target are the same server');
  for (const [side, servers] of Object.entries({ source, target }))
    if (servers.some(({ isReplica }) => isReplica))
      problems.push(`the ${side} is a replica, which takes no writes: give the URL of its primary`);
  return [...new Set(problems)];
}

/** Why the target has too little memory for the data of the source; undefined if it has enough. */
export function memoryProblem(
  source: readonly ServerFacts[],
  target: readonly ServerFacts[],
): string | undefined {
  const used = source.reduce((sum, server) => sum + server.used, 0);
  const free = target.reduce(
    (sum, { max, used: taken }) => sum + (max > 0 ? max - taken : Number.POSITIVE_INFINITY),
    0,
  );
  return used > free
    ? `the source uses ${mebibytes(used)}, and the target has ${mebibytes(free)} free: raise maxmemory of the target`
    : undefined;
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}

/**
 * The connections of programs in the answer of `CLIENT LIST`: those that have a name, without replicas,
 * sentinels and the connections named `own`.
 */
export function parsePrograms(list: string, own: string): string[] {
  return list.split('\n').flatMap((line) => {
    const field = (name: string) => new RegExp(`(?:^| )${name}=(\\S*)`).exec(line)?.[1] ?? '';
    const name = field('name');
    const isOther =
      name === '' || name === own || name.startsWith('sentinel-') || /[SM]/.test(field('flags'));
    return isOther ? [] : [`${name} (${field('addr')})`];
  });
}
