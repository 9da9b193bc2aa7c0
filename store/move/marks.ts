/** Reads and writes how far the move has come: a key in the source, and another one in the target. */
import { defineScript } from '../script.ts';
import type { SourceMark, TargetMark } from './plan.ts';
import { askForText, valueOf, type MoveServers } from './servers.ts';

const SOURCE_KEY = Buffer.from('wl:move:source');
const TARGET_KEY = Buffer.from('wl:move:target');

/** Whether the key is one of these, which are not copied. */
export function isMark(key: Buffer): boolean {
  return key.equals(SOURCE_KEY) || key.equals(TARGET_KEY);
}

/**
 * Where copying continues: a server of the source, and the cursor of `SCAN` there. The cursor is valid while
 * the server has this run ID.
 */
export type CopyPosition = { server: string; runId: string; cursor: string };

async function read(store: MoveServers, key: Buffer): Promise<Record<string, string>> {
  const flat = (await askForText(store.of(key), ['hgetall', key])) as string[];
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

/**
 * Checks and changes in one step: another call may have cancelled the move, moved the source elsewhere, or
 * finished the move.
 */
const CHANGE_STATE = defineScript({
  flags: 'drains',
  keys: ['moveMark'],
  args: ['token', 'state', 'excluded'],
  answers: {
    changed: 'the mark has the state',
    unchanged: 'it is the mark of another move, or has the excluded state',
  },
  body: `
    local known, current = unpack(redis.call('HMGET', moveMark, 'token', 'state'))
    if known ~= token or current == excluded then return 'unchanged' end
    redis.call('HSET', moveMark, 'state', state)
    return 'changed'
  `,
});

/**
 * Changes the state of the move with this token in the source. Returns false, and changes nothing, if the
 * source has the mark of another move, or the state `unless`.
 */
export async function changeSourceState(
  source: MoveServers,
  token: string,
  { state, unless }: Record<'state' | 'unless', SourceMark['state']>,
): Promise<boolean> {
  const [answer] = await source
    .of(SOURCE_KEY)
    .ask([['eval', CHANGE_STATE.lua, 1, SOURCE_KEY, token, state, unless]]);
  return String(valueOf(answer)) === 'changed';
}

export function writeTargetMark(target: MoveServers, mark: Partial<TargetMark>): Promise<void> {
  return write(target, TARGET_KEY, mark);
}

/** Where an earlier call stopped; undefined: at the start. */
export async function readCopyPosition(target: MoveServers): Promise<CopyPosition | undefined> {
  const text = (await read(target, TARGET_KEY))['position'] ?? '';
  return text === '' ? undefined : (JSON.parse(text) as CopyPosition);
}

export function writeCopyPosition(target: MoveServers, position: CopyPosition): Promise<void> {
  return write(target, TARGET_KEY, { position: JSON.stringify(position) });
}

/** Makes the next call copy all keys again. */
export function restartCopy(target: MoveServers): Promise<void> {
  return write(target, TARGET_KEY, { state: 'copying', position: '' });
}
