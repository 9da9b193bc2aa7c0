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
import { argumentsOf, defineScript } from '../store/script.ts';

/** Projects that one call reads: less than a millisecond of the server. */
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
type Demand = { rate: number; waiting: number };

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

function pagesOf(projects: readonly ProjectUid[]): ProjectUid[][] {
  const count = Math.ceil(projects.length / PAGE);
  return Array.from({ length: count }, (_, page) => projects.slice(page * PAGE, (page + 1) * PAGE));
}
