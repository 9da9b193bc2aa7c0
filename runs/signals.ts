/**
 * Signals of runs: what comes from outside for one node of a run, such as a callback or the end of a child
 * run. The first signal of a node is stored and never changes, also before the node is reached. A parked run
 * is ready again with it, and a run with unread signals is not parked (`advance.ts`).
 */
import { parseExact } from '../api/exact/exactNumber.ts';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { NOW, REQUIRE_STORE } from '../store/lua.ts';
import { argumentsOf, defineFragment, defineScript } from '../store/script.ts';
import { WAKE } from './due.ts';
import { ENQUEUE, FENCE } from './lua.ts';
import { RUN_LIMIT_BYTES } from './room.ts';
import { scriptKeys } from './scriptKeys.ts';
import type { ClaimRef } from './types/claim.ts';

/** The keys that SIGNAL_RUN needs. Those of the run are its parameters. */
const SIGNAL_KEYS = ['meta', 'ready', 'overLimit', 'parked', 'claims', 'signaled'] as const;

/**
 * `signal_run(run, wf, signals, run_id, node, value)`: stores the first signal of a node, and makes the run
 * ready if it is parked. `node`: its located key. Answers whether it is stored now. Nothing happens to a run
 * that has ended or does not exist. The signal is stored last: where a key is of a wrong type, the caller
 * calls again.
 */
export const SIGNAL_RUN = defineFragment({
  needs: [...SIGNAL_KEYS, 'enqueue'],
  gives: ['signal_run'],
  lua: `
local function signal_run(run, wf, signals, run_id, node, value)
  local virtual, short = unpack(redis.call('HMGET', meta, 'v', 'short'))
  ${WAKE}
  local group, accepted, ended, version, bytes = unpack(
    redis.call('HMGET', run, 'wf', 'accepted', 'ended', 'signaled', 'bytes'))
  if not group or ended or redis.call('HEXISTS', signals, node) == 1 then return false end
  local entry = group .. ' ' .. accepted .. ' ' .. run_id
  if redis.call('ZSCORE', parked, entry) then
    wake(entry, wf)
  elseif redis.call('HEXISTS', claims, run_id) == 1 then
    redis.call('PUBLISH', signaled, run_id)
  end
  local count = tonumber(string.match(version or '0', '^%d+')) + 1
  redis.call('HSET', run, 'signaled', count .. ' ' .. node, 'bytes', tonumber(bytes or 0) + #value)
  redis.call('HINCRBY', meta, 'bytes', #value)
  redis.call('HSETNX', signals, node, value)
  return true
end
`,
});

const SIGNAL = defineScript({
  transitions: ['parked > ready', 'parked > overLimit'],
  keys: [...SIGNAL_KEYS, 'cancels', 'wf', 'run', 'items', 'signals'],
  // `accepted_at`: of the run, in milliseconds; empty where it does not matter.
  args: ['run_id', 'accepted_at', 'node', 'value'],
  // The node, and the loops and items around it. `is_item`: 1 where the items of the run have it.
  // `execution`: of an item, `<repeat>.<attempt>` of the execution that the node belongs to.
  lists: { places: { args: ['field', 'is_item', 'execution'] } },
  answers: {
    stored: 'the signal is the first of the node',
    repeated: 'the node has a signal, or has succeeded',
    over: 'the node, an execution or item around it or the run has ended, or the run is to be cancelled',
    absent: 'there is no such run, or it was accepted at another time',
    full: 'the project has no room for the signal',
    'too-large': 'with the signal the run would be above its limit',
  },
  body: `
    ${REQUIRE_STORE}
    local group, accepted, ended, bytes = unpack(redis.call('HMGET', run, 'wf', 'accepted', 'ended', 'bytes'))
    if not group then return 'absent' end
    if accepted_at ~= '' and math.floor(accepted / 1000) ~= tonumber(accepted_at) then return 'absent' end
    if ended or redis.call('SISMEMBER', cancels, run_id) == 1 then return 'over' end
    local known = redis.call('HGET', signals, node)
    if known then return string.find(known, '^{"timeout"') and 'over' or 'repeated' end
    for _, field, is_item, execution in places() do
      local text
      if is_item == '1' then text = redis.call('HGET', items, field) else text = redis.call('HGET', run, field) end
      local phase = text and string.match(text, '"phase":"(%a+)"')
      local is_own = field == node or field == 'n:' .. node
      if phase == 'Succeeded' and is_own then return 'repeated' end
      if phase and phase ~= 'Pending' and phase ~= 'Running' and phase ~= 'Waiting' then return 'over' end
      if execution ~= '' and text then
        -- The stored item has the numbers of its current execution, before its outputs.
        local of_repeat, of_attempt = string.match(execution, '(%d+)%.(%d+)')
        local current = tonumber(string.match(text, '"repeat":(%d+)') or 0)
        local attempt = tonumber(string.match(text, '"attempts":(%d+)') or 0)
        if tonumber(of_repeat) < current then return 'over' end
        if tonumber(of_repeat) == current and tonumber(of_attempt) < attempt then return 'over' end
      end
    end
    if tonumber(bytes or 0) + #value > ${RUN_LIMIT_BYTES} then return 'too-large' end
    local used, quota = unpack(redis.call('HMGET', meta, 'bytes', 'claimQuota'))
    if quota and tonumber(used or 0) + #value > tonumber(quota) then return 'full' end
    ${NOW}
    ${ENQUEUE}
    ${SIGNAL_RUN}
    signal_run(run, wf, signals, run_id, node, value)
    return 'stored'
  `,
});

const CLOSE_SIGNAL = defineScript({
  flags: 'drains',
  keys: ['meta', 'claims', 'run', 'signals'],
  args: ['run_id', 'token', 'node'],
  answers: { fenced: "the claim is not the caller's", 'a signal': 'the first of the node' },
  body: `
    ${FENCE}
    if redis.call('HEXISTS', run, 'wf') == 0 then return 'fenced' end
    redis.call('HSETNX', signals, node, '{"timeout":true}')
    return redis.call('HGET', signals, node)
  `,
});

export type Signaled =
  | { outcome: 'stored' | 'repeated' | 'over' | 'absent' | 'full' | 'too-large' }
  | Unavailable;

/**
 * Stores the signal of a node, the first one, on all replicas that may be promoted, too. `node`: its located
 * key (`runner/executionState.ts`). `value`: JSON text. `acceptedAt`: of the run, because its name may come
 * again; left out where it cannot.
 */
export function signalRun(
  conn: RunStoreConnection,
  project: ProjectUid,
  { run, acceptedAt, node, value }: { run: string; acceptedAt?: number; node: string; value: string },
): Promise<Signaled> {
  return orUnavailable(async () => {
    const found = await conn.command('hget', keysOf(project).run(run), 'wf');
    // The script tells a run that does not exist from a store that lost its data.
    const group = typeof found === 'string' ? found : '';
    const args = argumentsOf(SIGNAL, {
      run_id: run,
      accepted_at: acceptedAt ?? '',
      node,
      value,
      places: placesOf(node),
    });
    const signal = () => conn.script(SIGNAL, scriptKeys(SIGNAL, { project, run, group }), args);
    const answer = await conn.replicated(project, signal);
    return { outcome: answer as Exclude<Signaled, Unavailable>['outcome'] };
  });
}

/** The fields of each loop and item around the node, the outer first, and of the node. */
function placesOf(node: string): [field: string, isItem: 0 | 1, execution: string][] {
  const places: [string, 0 | 1, string][] = [];
  let path = '';
  for (const segment of node.split('/')) {
    // `<ID>`, or `<ID of the loop>.<item>.<repeat>.<attempt>`
    const [id = '', item, ...execution] = segment.split('.');
    places.push(path === '' ? [`n:${id}`, 0, ''] : [path + id, 1, '']);
    if (item !== undefined) places.push([`${path}${id}.${item}`, 1, execution.join('.')]);
    path += `${segment}/`;
  }
  return places;
}

/** The signals of a run by located key. `version`: for `Advance.signalsRead`. */
export type Signals = { outcome: 'read'; version: string; values: ReadonlyMap<string, unknown> };

/** Reads the signals of a run. */
export function readSignals(
  conn: RunStoreConnection,
  { project, run }: Pick<ClaimRef, 'project' | 'run'>,
): Promise<Signals | Unavailable> {
  const keys = keysOf(project);
  return orUnavailable(async () => {
    // The version first: a signal between the two reads is then unread. A connection keeps the order.
    const [version, texts] = await Promise.all([
      conn.command('hget', keys.run(run), 'signaled') as Promise<string | null>,
      conn.command('hgetall', keys.signals(run)) as Promise<Record<string, string>>,
    ]);
    const values = Object.entries(texts).map(([node, text]): [string, unknown] => [node, parseExact(text)]);
    return { outcome: 'read', version: version ?? '', values: new Map(values) };
  });
}

/**
 * Ends the time in which the node takes a signal: its first signal is answered, which is `{timeout: true}`
 * where none had come. From then on signals of the node are refused.
 */
export function closeSignal(
  conn: RunStoreConnection,
  ref: ClaimRef,
  node: string,
): Promise<{ outcome: 'closed'; value: unknown } | { outcome: 'fenced' } | Unavailable> {
  return orUnavailable(async () => {
    const keys = scriptKeys(CLOSE_SIGNAL, ref);
    const answer = (await conn.script(CLOSE_SIGNAL, keys, [ref.run, ref.token, node])) as string;
    return answer === 'fenced' ? { outcome: 'fenced' } : { outcome: 'closed', value: parseExact(answer) };
  });
}

/** Calls `onSignal` with each claimed run that gets a signal. A lost message is not repeated. */
export function watchSignals(
  conn: RunStoreConnection,
  project: ProjectUid,
  onSignal: (run: string) => void,
): { stop(): void } {
  const subscription = conn
    .subscriber()
    .subscribe(keysOf(project).signaled, (run) => (run === undefined ? undefined : onSignal(run)));
  return { stop: () => void subscription.then((it) => it.end()) };
}
