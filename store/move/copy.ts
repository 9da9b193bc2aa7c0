/** Copies keys with their values and expiries. Replaces keys that the target already has. */
import { checkTarget, writeCopyPosition, type CopyPosition } from './marks.ts';
import type { SourceMark } from './plan.ts';
import { askByServer, createGrouping, pagesOf } from './pages.ts';
import { MoveProblem } from './problem.ts';
import { askForText, valueOf, type Answer, type Call, type MoveServer, type MoveServers } from './servers.ts';
import { parseFacts } from './serverFacts.ts';
import { readValues, restoreCall, writeCalls } from './values.ts';

/**
 * Errors after which keys are copied by their types: the account or the server does not have `DUMP` or
 * `RESTORE`, or the target cannot read dumps of the version of the source.
 */
const DUMP_UNUSABLE = /^(NOPERM|ERR unknown command|ERR DUMP payload version|ERR Bad data format)/;

type Copier = {
  /** Copies keys of one server of the source. Resolves to the bytes of their values. */
  copy: (server: MoveServer, keys: readonly Buffer[]) => Promise<number>;
};

/**
 * `onFallback` is called once, with the reason, if dumps cannot be used and keys are copied by their types.
 */
export function createCopier(target: MoveServers, onFallback: (reason: string) => void): Copier {
  let byTypes = false;
  return {
    copy: async (server, keys) => {
      if (!byTypes) {
        const copied = await copyDumps(server, target, keys);
        if (typeof copied === 'number') return copied;
        byTypes = true;
        onFallback(copied.refused);
      }
      return copyByType(server, target, keys);
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
    if (dumped && 'refused' in dumped && DUMP_UNUSABLE.test(dumped.refused)) return dumped;
    const dump = valueOf(dumped) as Buffer | null;
    const call = restoreCall(key, dump, Number(valueOf(answers[2 * index + 1])));
    if (call === undefined) continue;
    bytes += dump?.length ?? 0;
    writes.set(key, call);
  }
  const restored = await askByServer(target, [...writes.keys()], (at, own) =>
    at.ask(own.flatMap((key) => [writes.get(key) ?? ['exists', key]])),
  );
  for (const answer of restored) {
    if ('refused' in answer && DUMP_UNUSABLE.test(answer.refused)) return answer;
    checkWritten(answer);
  }
  return bytes;
}

async function copyByType(server: MoveServer, target: MoveServers, keys: readonly Buffer[]): Promise<number> {
  const values = await readValues(server, keys);
  let bytes = 0;
  for (const [index, key] of keys.entries()) {
    const value = values[index];
    if (!value) continue;
    bytes += value.elements.reduce((sum, { length }) => sum + length, 0);
    for (const answer of await target.of(key).ask(writeCalls(key, value))) checkWritten(answer);
  }
  return bytes;
}

function checkWritten(answer: Answer): void {
  if ('value' in answer) return;
  const hint = answer.refused.startsWith('OOM') ? '. Raise its maxmemory, and call the command again' : '';
  throw new MoveProblem(`the target refuses a key: ${answer.refused}${hint}`);
}

/** `isResumed`: the call continued after the keys that an earlier call had copied. */
export type CopyResult = { copied: number; isResumed: boolean };

type CopyOptions = {
  /** This call of the command. */
  own: SourceMark;
  from: CopyPosition | undefined;
  /** Gets the number of keys that this call has copied. */
  onProgress: (keys: number) => void;
};

/**
 * Copies all keys after the position `from`, and stores the position after each page.
 * @throws MoveProblem once another call works on the same move
 */
export async function copyAll(
  source: MoveServers,
  target: MoveServers,
  copier: Copier,
  { own, from, onProgress }: CopyOptions,
): Promise<CopyResult> {
  const runIds = new Map<string, string>();
  for (const server of source.all)
    runIds.set(server.name, parseFacts(String(await askForText(server, ['info', 'server']))).runId);
  const inGroups = createGrouping();
  let copied = 0;
  // The cursor of a server that has restarted since is invalid.
  const isResumed = from !== undefined && runIds.get(from.server) === from.runId;
  for await (const { server, keys, cursor } of pagesOf(source, isResumed ? from : undefined)) {
    await inGroups(keys, (group) => copier.copy(server, group));
    copied += keys.length;
    const runId = runIds.get(server.name) ?? '';
    await writeCopyPosition(target, own, { server: server.name, runId, cursor });
    onProgress(copied);
  }
  return { copied, isResumed };
}

/** Removes keys of the target that the source no longer has, after an earlier call copied them. */
export async function removeExtraKeys(
  source: MoveServers,
  target: MoveServers,
  own: SourceMark,
): Promise<void> {
  for await (const { server, keys } of pagesOf(target)) {
    const there = await askByServer(source, keys, (at, own) =>
      at.ask(own.map((key): Call => ['exists', key])),
    );
    const gone = keys.filter((_, index) => valueOf(there[index]) === 0);
    if (gone.length > 0) await checkTarget(target, own);
    for (const answer of await server.ask(gone.map((key): Call => ['unlink', key]))) valueOf(answer);
  }
}
