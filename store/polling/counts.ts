/**
 * What was counted of the looks at a trigger, for whoever shows it as metrics: pods live too shortly to be asked. The counts are written with
 * the outcome of each look, so that a look that is taken over by another pod counts once.
 */
import { REASON } from '../../api/conditions.ts';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { keysOf, type ProjectUid } from '../keys.ts';
import { countOf } from '../numbers.ts';
import { defineScript } from '../script.ts';

/** The outcome of a look that worked; of others it is their reason. */
export const WORKED = 'Polled' satisfies keyof typeof REASON;

/** Since they were taken last. */
export type PollCounts = {
  /** Events for which the run store was asked to start a run. */
  events: number;
  /** Cursors that were given up. */
  lost: number;
  /** Looks that came to their end, by outcome; only those that there were. */
  looks: Record<string, number>;
};

/** Before the name of what is counted, in the hash of the trigger. */
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

/** Takes what was counted, so that nobody gets it twice. What a pod wrote that is no outcome is not read. */
export function takePollCounts(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<PollCounts | Unavailable> {
  return orUnavailable(async () => {
    const answer = (await conn.script(TAKE, [keysOf(project).poll(workflowUid)], FIELDS)) as string[];
    const [events = 0, lost = 0, ...looks] = answer.map(countOf);
    const counted = OUTCOMES.map((name, index) => [name, looks[index] ?? 0] as const);
    return { events, lost, looks: Object.fromEntries(counted.filter(([, count]) => count > 0)) };
  });
}
