/** Copies keys with their values and expiries, and replaces keys that the target already has. */
import { writeCopied, type Copied } from './marks.ts';
import { byServer, createGroups, pagesOf } from './pages.ts';
import { MoveProblem } from './problem.ts';
import { textAnswer, valueOf, type Answer, type Call, type MoveServer, type MoveServers } from './servers.ts';
import { factsIn } from './plan.ts';
import { readValues, writesOf } from './values.ts';

/**
 * The account may not use DUMP or RESTORE, the servers do not have them, or the target does not read what the
 * other version writes.
 */
const NO_DUMPS = /^(NOPERM|ERR unknown command|ERR DUMP payload version|ERR Bad data format)/;

type Copier = {
  /** Copies keys of one server of the source, and answers with the bytes of their values. */
  copy: (server: MoveServer, keys: readonly Buffer[]) => Promise<number>;
};

/** `onTypes`: called once where the keys are copied by their types from now on, with the reason. */
export function createCopier(target: MoveServers, onTypes: (reason: string) => void): Copier {
  let byTypes = false;
  return {
    copy: async (server, keys) => {
      if (!byTypes) {
        const copied = await copyDumps(server, target, keys);
        if (typeof copied === 'number') return copied;
        byTypes = true;
        onTypes(copied.refused);
      }
      return copyTypes(server, target, keys);
    },
  };
}

async function copyDumps(
  server: MoveServer,
  target: MoveServers,
  keys: readonly Buffer[],
): Promise<number | { refused: string }> {
  const answers = await server.ask(
    keys.flatMap((key): Call[] => [
      ['dump', key],
      ['pexpiretime', key],
    ]),
  );
  const writes = new Map<Buffer, Call>();
  let bytes = 0;
  for (const [index, key] of keys.entries()) {
    const dumped = answers[2 * index];
    if (dumped && 'refused' in dumped && NO_DUMPS.test(dumped.refused)) return dumped;
    const value = valueOf(dumped) as Buffer | null;
    // It expired.
    if (value === null) continue;
    const expiresAt = Number(valueOf(answers[2 * index + 1]));
    bytes += value.length;
    writes.set(key, ['restore', key, Math.max(0, expiresAt), value, 'replace', 'absttl']);
  }
  const restored = await byServer(target, [...writes.keys()], (at, own) =>
    at.ask(own.flatMap((key) => [writes.get(key) ?? ['exists', key]])),
  );
  for (const answer of restored) {
    if ('refused' in answer && NO_DUMPS.test(answer.refused)) return answer;
    checkWritten(answer);
  }
  return bytes;
}

async function copyTypes(server: MoveServer, target: MoveServers, keys: readonly Buffer[]): Promise<number> {
  const values = await readValues(server, keys);
  let bytes = 0;
  for (const [index, key] of keys.entries()) {
    const value = values[index];
    if (!value) continue;
    bytes += value.elements.reduce((sum, { length }) => sum + length, 0);
    for (const answer of await target.of(key).ask(writesOf(key, value))) checkWritten(answer);
  }
  return bytes;
}

function checkWritten(answer: Answer): void {
  if ('value' in answer) return;
  const hint = answer.refused.startsWith('OOM') ? ': raise its maxmemory, and call the command again' : '';
  throw new MoveProblem(`the target refuses a key: ${answer.refused}${hint}`);
}

/**
 * Copies all keys from where an earlier call stopped, and notes after each page how far it came.
 * `onProgress`: called with the number of keys that this call has copied.
 */
export async function copyAll(
  source: MoveServers,
  target: MoveServers,
  copier: Copier,
  { from, onProgress }: { from: Copied | undefined; onProgress: (keys: number) => void },
): Promise<number> {
  const lives = new Map<string, string>();
  for (const server of source.all)
    lives.set(server.name, factsIn(String(await textAnswer(server, ['info', 'server']))).runId);
  const inGroups = createGroups();
  let copied = 0;
  // A server that started again gives other cursors.
  const isSame = from !== undefined && lives.get(from.server) === from.runId;
  for await (const { server, keys, cursor } of pagesOf(source, isSame ? from : undefined)) {
    await inGroups(keys, (group) => copier.copy(server, group));
    copied += keys.length;
    await writeCopied(target, { server: server.name, runId: lives.get(server.name) ?? '', cursor });
    onProgress(copied);
  }
  return copied;
}

/** Removes keys of the target that the source does not have: they were copied before, and have gone since. */
export async function removeOthers(source: MoveServers, target: MoveServers): Promise<void> {
  for await (const { server, keys } of pagesOf(target)) {
    const there = await byServer(source, keys, (at, own) => at.ask(own.map((key): Call => ['exists', key])));
    const gone = keys.filter((_, index) => valueOf(there[index]) === 0);
    for (const answer of await server.ask(gone.map((key): Call => ['unlink', key]))) valueOf(answer);
  }
}
