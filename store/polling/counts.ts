/**
 * Counts of polls, for metrics: pods live too shortly to be scraped. They are stored with the outcome of each
 * poll, so that a poll that another pod takes over counts once.
 */
import { REASON } from '../../api/conditions.ts';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { keysOf, type ProjectUid } from '../keys.ts';
import { countOf } from '../numbers.ts';
import { defineScript } from '../script.ts';

/** The outcome of a successful poll; that of a failed one is its reason. */
export const WORKED = 'Polled' satisfies keyof typeof REASON;

/** Counts since they were taken last. */
export type PollCounts = {
  /** Submitted events. */
  events: number;
  /** Dropped cursors. */
  lost: number;
  /** Finished polls by outcome; outcomes without polls are left out. */
  polls: Record<string, number>;
};

/** The prefix of a count's field in the hash of the trigger. */
export const COUNT = 'n:';

const TAKE = defineScript({
  flags: 'drains',
  keys: ['poll'],
  lists: { counters: { args: ['field'] } },
  answers: 'the value of each counter, or an empty text',
  body: `
    local counts = redis.call('HMGET', poll, unpack_counters())
    local found = {}
    for index, field in counters() do
      if counts[index] then found[#found + 1] = field end
      counts[index] = counts[index] or ''
    end
    if #found > 0 then redis.call('HDEL', poll, unpack(found)) end
    return counts
  `,
});

const OUTCOMES = Object.keys(REASON);
const FIELDS = ['events', 'lost', ...OUTCOMES].map((name) => COUNT + name);

/** Takes the counts: nobody gets them twice. Unknown outcomes are not read. */
export function takePollCounts(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<PollCounts | Unavailable> {
  return orUnavailable(async () => {
    const answer = (await conn.script(TAKE, [keysOf(project).poll(workflowUid)], FIELDS)) as string[];
    const [events = 0, lost = 0, ...polls] = answer.map(countOf);
    const counted = OUTCOMES.map((name, index) => [name, polls[index] ?? 0] as const);
    return { events, lost, polls: Object.fromEntries(counted.filter(([, count]) => count > 0)) };
  });
}
