/** Compares what source and target have, key by key. */
import type { ProjectUid } from '../keys.ts';
import { byServer, createGroups, pagesOf, projectOf } from './pages.ts';
import { valueOf, type Call, type MoveServers } from './servers.ts';
import { digestOf, readValues, shownKey, type Value } from './values.ts';

/** `digest`: of all keys with their values and expiries, in hex; the same in both stores. */
export type Compared = { project: ProjectUid; keys: number; digest: string };
export type Comparison = {
  projects: Compared[];
  /** How many keys differ, and the first of them. */
  differences: number;
  shown: string[];
};

const SHOWN = 5;
/** Clocks of servers differ: a key that expires in this time may be gone in one of them. */
const CLOCKS_MS = 60_000;

type Tally = { keys: number; sum: bigint };

/** Reads all values of both stores. `onProgress`: called with the number of keys that were compared. */
export async function compareAll(
  source: MoveServers,
  target: MoveServers,
  onProgress: (keys: number) => void,
): Promise<Comparison> {
  const tallies = new Map<ProjectUid, Tally>();
  const shown: string[] = [];
  let differences = 0;
  const differ = (key: Buffer, why: string): void => {
    differences += 1;
    if (shown.length < SHOWN) shown.push(`${shownKey(key)} ${why}`);
  };
  const inGroups = createGroups();
  let compared = 0;
  for await (const { server, keys } of pagesOf(source)) {
    await inGroups(keys, async (group) => {
      const [here, there] = await Promise.all([
        readValues(server, group),
        byServer(target, group, readValues),
      ]);
      let bytes = 0;
      for (const [index, key] of group.entries()) {
        const value = here[index];
        bytes += 2 * (value?.elements.reduce((sum, { length }) => sum + length, 0) ?? 0);
        const digest = value && digestOf(key, value);
        const why = differenceOf({ value, digest }, { key, other: there[index] });
        if (why !== undefined) differ(key, why);
        else if (digest) count(tallies, projectOf(key), digest);
      }
      return bytes;
    });
    onProgress((compared += keys.length));
  }
  await forEachOther(source, target, (key) => differ(key, 'is in the target alone'));
  return {
    projects: [...tallies].map(shownTally).toSorted((a, b) => (a.project < b.project ? -1 : 1)),
    differences,
    shown,
  };
}

function differenceOf(
  { value, digest }: { value: Value | undefined; digest: Buffer | undefined },
  { key, other }: { key: Buffer; other: Value | undefined },
): string | undefined {
  // What expired in the source expires in the target, too.
  if (!value || !digest) return other && !expiresSoon(other.expiresAt) ? 'is in the target alone' : undefined;
  if (!other) return expiresSoon(value.expiresAt) ? undefined : 'is not in the target';
  return digest.equals(digestOf(key, other)) ? undefined : 'differs';
}

function expiresSoon(expiresAt: number): boolean {
  return expiresAt >= 0 && expiresAt <= Date.now() + CLOCKS_MS;
}

function count(tallies: Map<ProjectUid, Tally>, project: ProjectUid, digest: Buffer): void {
  const tally = tallies.get(project) ?? { keys: 0, sum: 0n };
  // A sum does not depend on the order of the keys.
  tallies.set(project, {
    keys: tally.keys + 1,
    sum: BigInt.asUintN(64, tally.sum + digest.readBigUInt64BE()),
  });
}

function shownTally([project, { keys, sum }]: [ProjectUid, Tally]): Compared {
  return { project, keys, digest: sum.toString(16).padStart(16, '0') };
}

/** Calls back for each key of the target that the source does not have, and that does not expire soon. */
async function forEachOther(
  source: MoveServers,
  target: MoveServers,
  visit: (key: Buffer) => void,
): Promise<void> {
  for await (const { server, keys } of pagesOf(target)) {
    const there = await byServer(source, keys, (at, own) => at.ask(own.map((key): Call => ['exists', key])));
    const others = keys.filter((_, index) => valueOf(there[index]) === 0);
    const expiries = await server.ask(others.map((key): Call => ['pexpiretime', key]));
    for (const [index, key] of others.entries()) {
      const expiresAt = Number(valueOf(expiries[index]));
      // -2: it is gone by now.
      if (expiresAt !== -2 && !expiresSoon(expiresAt)) visit(key);
    }
  }
}
