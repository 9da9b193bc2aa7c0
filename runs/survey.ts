/**
 * What the operator reads of all projects again and again, in one call for many of them: at a thousand
 * projects a call for each costs more than what it reads. Keys that a program with the account of a project
 * damaged do not keep the others from being read.
 */
import {
  isUnavailable,
  orUnavailable,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { CLOCK_STEP_MS } from '../store/lua.ts';
import { argumentsOf, defineScript } from '../store/script.ts';
import { MEMORY_PART } from './memory.ts';
import { WORK_LISTS } from './work.ts';

/** Projects that one call reads: a few milliseconds of the server at most. */
const PAGE = 200;

const READ_MISSING = defineScript({
  flags: 'reads',
  keys: [],
  lists: { projects: { args: ['project'], keys: ['meta'] } },
  answers: 'the projects that have no data',
  body: `
    local missing = {}
    for _, project, meta in projects() do
      if not redis.pcall('HGET', meta, 'id') then missing[#missing + 1] = project end
    end
    return missing
  `,
});

/** The projects among these that have no data in the run store. */
export function missingProjects(
  conn: RunStoreConnection,
  projects: readonly ProjectUid[],
): Promise<ProjectUid[] | Unavailable> {
  return inPages(conn, projects, async (page) => {
    const keys = page.map((project) => keysOf(project).meta);
    const args = argumentsOf(READ_MISSING, { projects: page.map((project) => [project]) });
    return (await conn.script(READ_MISSING, keys, args)) as string[];
  });
}

const READ_DEMANDS = defineScript({
  flags: 'reads',
  keys: [],
  lists: { projects: { args: ['project'], keys: ['meta', 'unrecorded'] } },
  answers: 'for each project that is open its rate, and how many runs wait',
  body: `
    local demands = {}
    for _, project, meta, unrecorded in projects() do
      local rate, waiting = redis.pcall('HGET', meta, 'rate'), redis.pcall('ZCARD', unrecorded)
      if tonumber(rate) and tonumber(waiting) then
        demands[#demands + 1] = {project, rate, waiting}
      end
    end
    return demands
  `,
});

/** Writes of records per second that a project may make now, and runs whose record is behind. */
export type Demand = { rate: number; waiting: number };

/** The demand of each project among these that is open. */
export async function readDemands(
  conn: RunStoreConnection,
  projects: readonly ProjectUid[],
): Promise<Map<ProjectUid, Demand> | Unavailable> {
  const found = await inPages(conn, projects, async (page) => {
    const keys = page.map((project) => keysOf(project)).flatMap(({ meta, unrecorded }) => [meta, unrecorded]);
    const args = argumentsOf(READ_DEMANDS, { projects: page.map((project) => [project]) });
    return (await conn.script(READ_DEMANDS, keys, args)) as [ProjectUid, string, number][];
  });
  if (isUnavailable(found)) return found;
  return new Map(found.map(([project, rate, waiting]) => [project, { rate: Number(rate), waiting }]));
}

/** All pages, without those whose server is away; unavailable where all are. */
async function inPages<T>(
  conn: RunStoreConnection,
  projects: readonly ProjectUid[],
  read: (page: readonly ProjectUid[]) => Promise<T[]>,
): Promise<T[] | Unavailable> {
  const pages = conn.together(projects).flatMap(pagesOf);
  const found = await Promise.all(pages.map((page) => orUnavailable(() => read(page))));
  const failed = found.filter(isUnavailable);
  if (failed[0] && failed.length === pages.length) return failed[0];
  return found.flatMap((rows) => (isUnavailable(rows) ? [] : rows));
}

const FIND_WORK = defineScript({
  flags: 'reads',
  keys: [],
  args: ['within'],
  lists: { projects: { args: ['project'], keys: ['meta', 'parked', 'memoryExpiry', ...WORK_LISTS] } },
  answers: 'the projects that may have work within that time, and those that cannot be read',
  body: `
    local time = redis.call('TIME')
    local wall = time[1] * 1000 + math.floor(time[2] / 1000)
    local function is_due(key, at)
      local first = redis.pcall('ZRANGE', key, 0, 0, 'WITHSCORES')
      if first.err then return true end
      local _, score = unpack(first)
      return score and tonumber(score) <= at
    end
    local function is_waiting(meta, any, parked, memoryExpiry)
      local state = redis.pcall('HMGET', meta, 'id', 'clock', 'ahead', 'memory', 'quota', 'pollsPut', 'pollsSeen')
      if state.err then return true end
      local id, clock, ahead, memory, quota, polls_put, polls_seen = unpack(state)
      if not id or polls_put and polls_put ~= polls_seen then return true end
      if (tonumber(memory) or 0) > (tonumber(quota) or math.huge) * ${MEMORY_PART} then return true end
      if not any then return false end
      local now, last = wall + (tonumber(ahead) or 0), tonumber(clock) or 0
      -- The server's clock went back: when its work is read, that of the project continues.
      if now < last - ${CLOCK_STEP_MS} then return true end
      now = math.max(now, last)
      return is_due(parked, now + within) or is_due(memoryExpiry, now)
    end
    local found = {}
    for _, project, meta, parked, memoryExpiry, ${WORK_LISTS.join(', ')} in projects() do
      -- Most projects have none of them.
      local any = redis.call('EXISTS', parked, memoryExpiry, ${WORK_LISTS.join(', ')}) > 0
      local has_work = any and redis.call('EXISTS', ${WORK_LISTS.join(', ')}) > 0
      if has_work or is_waiting(meta, any, parked, memoryExpiry) then found[#found + 1] = project end
    end
    return found
  `,
});

/**
 * The projects among these that may have work for runners now or within `withinMs`, as `readWork` tells it of
 * one project. Also those that are not open, and those with damaged keys.
 */
export function projectsWithWork(
  conn: RunStoreConnection,
  projects: readonly ProjectUid[],
  withinMs: number,
): Promise<ProjectUid[] | Unavailable> {
  return inPages(conn, projects, async (page) => {
    const keys = page
      .map((project) => keysOf(project))
      .flatMap((own) => [own.meta, own.parked, own.memoryExpiry, ...WORK_LISTS.map((name) => own[name])]);
    const args = argumentsOf(FIND_WORK, { within: withinMs, projects: page.map((project) => [project]) });
    return (await conn.script(FIND_WORK, keys, args)) as string[];
  });
}

function pagesOf(projects: readonly ProjectUid[]): ProjectUid[][] {
  const count = Math.ceil(projects.length / PAGE);
  return Array.from({ length: count }, (_, page) => projects.slice(page * PAGE, (page + 1) * PAGE));
}
