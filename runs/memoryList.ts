/** Lists and reads the memories of agents, for people. */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { groupsOf, type RunGroup } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { MOST_TURNS, spaceOf } from './memory.ts';
import type { MemorySpace } from './types/advance.ts';

const PAGE = 500;
/** Memories whose first turns are read at once. */
const AT_ONCE = 50;

/**
 * A memory in a list. `usedAt`: when its last turn was stored, in milliseconds since 1970. `first`: its first
 * turn as JSON, if it was asked for.
 */
type ListedMemory = MemorySpace & {
  test: boolean;
  turns: number;
  bytes: number;
  usedAt: number;
  first?: string;
};

/** `total`: how many memories match. `items`: those that were used last, the newest first. */
export type ListedMemories = { items: ListedMemory[]; total: number };

/** How many memories are searched by their first turn: those that were used last. */
const MOST_SEARCHED = 500;

/**
 * `inFirst`: whether a first turn (JSON) has the text. Undefined: first turns are neither read nor searched.
 */
type Listing = { contains?: string | undefined; limit: number; inFirst?: (turn: string) => boolean };

/** The memories of a workflow whose key, or first turn, contains the text. */
export function listMemories(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
  { contains = '', limit, inFirst }: Listing,
): Promise<ListedMemories | Unavailable> {
  return orUnavailable(async () => {
    const all: Placed[] = [];
    for (const [index, group] of groupsOf(workflowUid).entries())
      for await (const [space, head] of headsOf(conn, keysOf(project).memories(group))) {
        const memory = parseHead(head, index === 1);
        if (memory) all.push({ ...memory, place: [group, `${space}.${memory.start}`] });
      }
    const newest = all.toSorted((a, b) => b.usedAt - a.usedAt);
    const hasKey = ({ key }: Placed) => key.includes(contains);
    if (!inFirst) return listed(newest.filter(hasKey), limit);
    const searched = contains === '' ? newest.slice(0, limit) : newest.slice(0, MOST_SEARCHED);
    const firsts = await readFirsts(conn, project, searched);
    const found = newest.filter((memory) => hasKey(memory) || inFirst(firsts.get(memory) ?? ''));
    return listed(found, limit, firsts);
  });
}

/** `start`: the number of its first turn; `place`: the group, and the field of that turn. */
type Placed = Omit<ListedMemory, 'first'> & { start: number; place: [group: RunGroup, field: string] };

function listed(
  found: readonly Placed[],
  limit: number,
  firsts?: ReadonlyMap<Placed, string>,
): ListedMemories {
  const items = found.slice(0, limit).map((memory) => {
    const { start: _start, place: _place, ...item } = memory;
    const first = firsts?.get(memory);
    return { ...item, ...(first !== undefined && { first }) };
  });
  return { items, total: found.length };
}

async function readFirsts(
  conn: RunStoreConnection,
  project: ProjectUid,
  memories: readonly Placed[],
): Promise<Map<Placed, string>> {
  const firsts = new Map<Placed, string>();
  for (let at = 0; at < memories.length; at += AT_ONCE)
    for (const [group, some] of Map.groupBy(memories.slice(at, at + AT_ONCE), ({ place: [of] }) => of)) {
      const fields = some.map(({ place: [, field] }) => field);
      const turns = (await conn.command('hmget', keysOf(project).memory(group), ...fields)) as unknown[];
      for (const [index, memory] of some.entries()) {
        const turn = turns[index];
        if (typeof turn === 'string') firsts.set(memory, turn);
      }
    }
  return firsts;
}

/** The turns of a memory as JSON, the oldest first; undefined where there are none. */
export function readMemory(
  conn: RunStoreConnection,
  project: ProjectUid,
  group: RunGroup,
  named: MemorySpace,
): Promise<{ outcome: 'read'; turns: string[] } | { outcome: 'absent' } | Unavailable> {
  const { memory, memories } = keysOf(project);
  const space = spaceOf(named);
  return orUnavailable(async () => {
    const head = await conn.command('hget', memories(group), space);
    const [first = 0, next = 0] = typeof head === 'string' ? head.split(' ', 2).map(Number) : [];
    if (next === first) return { outcome: 'absent' };
    const fields = Array.from(
      { length: Math.min(next - first, MOST_TURNS) },
      (_, at) => `${space}.${first + at}`,
    );
    const turns = (await conn.command('hmget', memory(group), ...fields)) as (string | null)[];
    return { outcome: 'read', turns: turns.filter((turn) => turn !== null) };
  });
}

/** `<space>` and the stored head of each memory, page by page. */
export async function* headsOf(
  conn: RunStoreConnection,
  key: string,
): AsyncGenerator<[space: string, head: string]> {
  let cursor = '0';
  do {
    const [next, page] = (await conn.command('hscan', key, cursor, 'count', PAGE)) as [string, string[]];
    for (let at = 0; at < page.length; at += 2) yield [page[at] ?? '', page[at + 1] ?? ''];
    cursor = next;
  } while (cursor !== '0');
}

const HEAD = /^(\d+) (\d+) (\d+) (\d+) \d+ \d+ ([^ ]+) (.*)$/s;

/** Undefined for a memory without turns. */
function parseHead(head: string, test: boolean): Omit<Placed, 'place'> | undefined {
  const [, first, next, bytes, used, name = '', key = ''] = HEAD.exec(head) ?? [];
  const turns = Number(next) - Number(first);
  return turns > 0
    ? { name, key, test, turns, bytes: Number(bytes), usedAt: Number(used), start: Number(first) }
    : undefined;
}
