/** Compares source and target key by key. */
import type { ProjectUid } from '../keys.ts';
import { askByServer, createGrouping, pagesOf, projectOf } from './pages.ts';
import { valueOf, type Call, type MoveServers } from './servers.ts';
import { digestOf, readValues, printableKey, type Value } from './values.ts';

/** `digest`: of all keys with their values and expiries, in hex. It is the same in both stores. */
export type ComparedProject = { project: ProjectUid; keys: number; digest: string };
export type Comparison = {
  projects: ComparedProject[];
  /** The number of keys that differ. */
  differences: number;
  /** The first of them, each with the difference. */
  examples: string[];
};

const MAX_EXAMPLES = 5;
/** Clocks of servers differ: a key that expires within this time may be missing in one store. */
const CLOCK_SKEW_MS = 60_000;

type Tally = { keys: number; sum: bigint };

/** Reads and compares all values of both stores. `onProgress` gets the number of compared keys. */
export async function compareAll(
  source: MoveServers,
  target: MoveServers,
  onProgress: (keys: number) => void,
): Promise<Comparison> {
  const tallies = new Map<ProjectUid, Tally>();
  const examples: string[] = [];
  let differences = 0;
  const differ = (key: Buffer, why: string): void => {
    differences += 1;
    if (examples.length < MAX_EXAMPLES) examples.push(`${printableKey(key)} ${why}`);
  };
  const inGroups = createGrouping();
  let compared = 0;
  for await (const { server, keys } of pagesOf(source)) {
    await inGroups(keys, async (group) => {
      const [here, there] = await Promise.all([
        readValues(server, group),
        askByServer(target, group, readValues),
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
  await forEachExtraKey(source, target, (key) => differ(key, 'is only in the target'));
  return {
    projects: [...tallies].map(projectOfTally).toSorted((a, b) => (a.project < b.project ? -1 : 1)),
    differences,
    examples,
  };
}

function differenceOf(
  { value, digest }: { value: Value | undefined; digest: Buffer | undefined },
  { key, other }: { key: Buffer; other: Value | undefined },
): string | undefined {
  // A key that expired in the source expires in the target, too.
  if (!value || !digest) return other && !expiresSoon(other.expiresAt) ? 'is only in the target' : undefined;
  if (!other) return expiresSoon(value.expiresAt) ? undefined : 'is not in the target';
  return digest.equals(digestOf(key, other)) ? undefined : 'differs';
}

function expiresSoon(expiresAt: number): boolean {
  return expiresAt >= 0 && expiresAt <= Date.now() + CLOCK_SKEW_MS;
}

function count(tallies: Map<ProjectUid, Tally>, project: ProjectUid, digest: Buffer): void {
  const tally = tallies.get(project) ?? { keys: 0, sum: 0n };
  // A sum does not depend on the order of the keys.
  tallies.set(project, {
    keys: tally.keys + 1,
    sum: BigInt.asUintN(64, tally.sum + digest.readBigUInt64BE()),
  });
}

function projectOfTally([project, { keys, sum }]: [ProjectUid, Tally]): ComparedProject {
  return { project, keys, digest: sum.toString(16).padStart(16, '0') };
}

/** Calls `visit` with each key of the target that the source does not have and that does not expire soon. */
async function forEachExtraKey(
  source: MoveServers,
  target: MoveServers,
  visit: (key: Buffer) => void,
): Promise<void> {
  for await (const { server, keys } of pagesOf(target)) {
    const there = await askByServer(source, keys, (at, own) =>
      at.ask(own.map((key): Call => ['exists', key])),
    );
    const extra = keys.filter((_, index) => valueOf(there[index]) === 0);
    const expiries = await server.ask(extra.map((key): Call => ['pexpiretime', key]));
    for (const [index, key] of extra.entries()) {
      const expiresAt = Number(valueOf(expiries[index]));
      // -2: it has expired meanwhile.
      if (expiresAt !== -2 && !expiresSoon(expiresAt)) visit(key);
    }
  }
}
