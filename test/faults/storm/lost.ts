/** Takes the run store's data away, and knows exactly what was in it: it is read and removed in one step. */
import { isTerminal } from '../../../api/phase.ts';
import type { RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import type { RunHead } from '../../../runs/read.ts';
import type { EndedRun, Loss } from '../evidence.ts';
import type { StoredProject } from '../store.ts';

/** A run whose end is recorded is kept for some seconds more: it has a time to live, and does not count. */
const SCRIPT = `
local stored, lines = {}, {}
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
  if redis.call('TTL', key) == -1 then
    local run = redis.call('HMGET', key, 'phase', 'head', 'accepted', 'ended', 'reason')
    table.insert(stored, {string.sub(key, #ARGV[1] + 1), run[1] or '', run[2] or '{}', run[3] or '0', run[4] or '', run[5] or ''})
  end
end
for _, key in ipairs(KEYS) do
  for _, line in ipairs(redis.call('HVALS', key)) do table.insert(lines, line) end
end
redis.call('FLUSHALL')
return {stored, lines}
`;

/** `conn`: of an account that may do everything. Throws where the run store does not answer. */
export async function loseData(
  conn: RunStoreConnection,
  { uid, workflows }: StoredProject,
): Promise<{ loss: Loss; ended: EndedRun[] }> {
  const keys = keysOf(uid);
  const ofWorkflows = workflows.map((workflow) => keys.summaries(workflow.uid));
  const found = await conn.command('eval', SCRIPT, ofWorkflows.length, ...ofWorkflows, keys.run(''));
  const [stored, lines] = found as [string[][], string[]];
  const runs = stored.map(([run = '']) => run);
  const ended = lines.map((line) => JSON.parse(line) as EndedRun);
  return { loss: { at: Date.now(), runs }, ended: [...ended, ...stored.flatMap(endOf)] };
}

/** How a run ended whose end was not recorded yet. */
function endOf([run = '', phase = '', head = '{}', accepted, ended, reason = '']: string[]): EndedRun[] {
  if (!isTerminal(phase)) return [];
  const { workflow, trigger } = JSON.parse(head) as RunHead;
  const times = { acceptedAt: Math.floor(Number(accepted) / 1_000), endedAt: Number(ended) };
  return [{ run, workflow, phase, trigger, ...(reason !== '' && { reason }), ...times }];
}
