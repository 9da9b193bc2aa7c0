/** Reads and writes how far the move has come: a key in the source, and another one in the target. */
import { argumentsOf, defineScript } from '../script.ts';
import type { SourceMark, TargetMark } from './plan.ts';
import { MoveSuperseded } from './problem.ts';
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

export async function readSourceMark(source: MoveServers): Promise<SourceMark | undefined> {
  const fields = await read(source, SOURCE_KEY);
  return fields['token'] === undefined ? undefined : (fields as SourceMark);
}

export async function readTargetMark(target: MoveServers): Promise<TargetMark | undefined> {
  const fields = await read(target, TARGET_KEY);
  return fields['token'] === undefined ? undefined : (fields as TargetMark);
}

/** What a mark has before it is written: another call of the command may have written it meanwhile. */
type Known = Pick<SourceMark, 'token' | 'call'> | undefined;

/** In one step with its check. */
const WRITE = defineScript({
  flags: 'drains',
  keys: ['moveMark'],
  args: ['knownToken', 'knownCall', 'unless'],
  lists: { fields: { args: ['name', 'value'] } },
  answers: {
    written: 'the mark has the fields',
    unchanged: 'another call has written the mark, or it has the state in which it must stay',
  },
  body: `
    local token, call, state = unpack(redis.call('HMGET', moveMark, 'token', 'call', 'state'))
    if (token or '') ~= knownToken or (call or '') ~= knownCall or state == unless then return 'unchanged' end
    redis.call('HSET', moveMark, unpack_fields())
    return 'written'
  `,
});

async function write(
  store: MoveServers,
  key: Buffer,
  known: Known,
  { fields, unless = '' }: { fields: Record<string, string>; unless?: SourceMark['state'] | '' },
): Promise<boolean> {
  const values = argumentsOf(WRITE, {
    knownToken: known?.token ?? '',
    knownCall: known?.call ?? '',
    unless,
    fields: Object.entries(fields),
  });
  const [answer] = await store.of(key).ask([['eval', WRITE.lua, 1, key, ...values]]);
  return String(valueOf(answer)) === 'written';
}

/**
 * Writes fields of the mark of the source, unless another call has written it since it was `known`, or its
 * state is `unless`. Returns whether they were written.
 */
export function writeSourceMark(
  source: MoveServers,
  known: Known,
  fields: Partial<SourceMark>,
  unless?: SourceMark['state'],
): Promise<boolean> {
  return write(source, SOURCE_KEY, known, { fields, ...(unless !== undefined && { unless }) });
}

/** As `writeSourceMark`, for the target. @throws MoveProblem if another call has written the mark since */
export async function writeTargetMark(
  target: MoveServers,
  known: Known,
  fields: Partial<TargetMark> & { position?: string },
): Promise<void> {
  if (!(await write(target, TARGET_KEY, known, { fields }))) throw superseded();
}

/**
 * A call that was suspended for a while must not write to a store that another call has moved meanwhile.
 * @throws MoveProblem unless `own` is the last call that has written the mark of the target
 */
export function checkTarget(target: MoveServers, own: SourceMark): Promise<void> {
  return writeTargetMark(target, own, { call: own.call });
}

/** The same for the source. @throws MoveProblem also after the move was cancelled */
export async function checkSource(source: MoveServers, own: SourceMark): Promise<void> {
  if (!(await writeSourceMark(source, own, { call: own.call }))) throw superseded();
}

/** This call ends, because another one has continued or cancelled the move. */
export function superseded(): MoveSuperseded {
  return new MoveSuperseded(
    'another call of the command has continued, finished or cancelled the move meanwhile. This one has ended: see what the other one reports',
  );
}

/** Where an earlier call stopped; undefined: at the start. */
export async function readCopyPosition(target: MoveServers): Promise<CopyPosition | undefined> {
  const text = (await read(target, TARGET_KEY))['position'] ?? '';
  return text === '' ? undefined : (JSON.parse(text) as CopyPosition);
}

/** @throws MoveProblem if another call copies since */
export function writeCopyPosition(target: MoveServers, own: Known, position: CopyPosition): Promise<void> {
  return writeTargetMark(target, own, { position: JSON.stringify(position) });
}

/** Makes the next call copy all keys again. */
export function restartCopy(target: MoveServers, own: Known): Promise<void> {
  return writeTargetMark(target, own, { state: 'copying', position: '' });
}
