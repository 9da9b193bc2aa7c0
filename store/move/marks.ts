/** What source and target remember about the move, in a key of their own that is not copied. */
import type { SourceMark, TargetMark } from './plan.ts';
import { valueOf, textAnswer, type MoveServers } from './servers.ts';

const SOURCE_KEY = Buffer.from('wl:move:source');
const TARGET_KEY = Buffer.from('wl:move:target');

/** Whether the key is one of these, and so belongs to the store that it is in. */
export function isMark(key: Buffer): boolean {
  return key.equals(SOURCE_KEY) || key.equals(TARGET_KEY);
}

/**
 * How far the keys of the source were copied: at which server, and in which life of it, and the cursor there.
 */
export type Copied = { server: string; runId: string; cursor: string };

async function read(store: MoveServers, key: Buffer): Promise<Record<string, string>> {
  const flat = (await textAnswer(store.of(key), ['hgetall', key])) as string[];
  return Object.fromEntries(
    flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? '']] : [])),
  );
}

async function write(store: MoveServers, key: Buffer, fields: Record<string, string>): Promise<void> {
  const [answer] = await store.of(key).ask([['hset', key, ...Object.entries(fields).flat()]]);
  valueOf(answer);
}

export async function readSourceMark(source: MoveServers): Promise<SourceMark | undefined> {
  const fields = await read(source, SOURCE_KEY);
  return fields['token'] === undefined ? undefined : (fields as SourceMark);
}

export async function readTargetMark(target: MoveServers): Promise<TargetMark | undefined> {
  const fields = await read(target, TARGET_KEY);
  return fields['token'] === undefined ? undefined : (fields as TargetMark);
}

export function writeSourceMark(source: MoveServers, mark: Partial<SourceMark>): Promise<void> {
  return write(source, SOURCE_KEY, mark);
}

export function writeTargetMark(target: MoveServers, mark: Partial<TargetMark>): Promise<void> {
  return write(target, TARGET_KEY, mark);
}

/** How far an earlier call came; undefined at the start. */
export async function readCopied(target: MoveServers): Promise<Copied | undefined> {
  const text = (await read(target, TARGET_KEY))['copied'] ?? '';
  return text === '' ? undefined : (JSON.parse(text) as Copied);
}

/** Undefined: the next call copies everything again. */
export function writeCopied(target: MoveServers, copied: Copied | undefined): Promise<void> {
  return write(target, TARGET_KEY, { copied: copied ? JSON.stringify(copied) : '' });
}
