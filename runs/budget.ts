/**
 * Budgets: reserves tokens and cost before a request to a model, and settles them by what the provider
 * counted. Guarantees: what is charged to a step, run, workflow or project is never above its limit by
 * reservations, whatever runs at the same time; each reservation is settled at most once; one that is never
 * settled stays charged as estimated. A day is one of UTC, by the project's clock.
 */
import type { BudgetLimit } from '../api/budget.ts';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import type { RunGroup } from '../store/groups.ts';
import { NOW, REQUIRE_STORE } from '../store/lua.ts';
import { countOf } from '../store/numbers.ts';
import { argumentsOf, defineFragment, defineScript } from '../store/script.ts';
import { FENCE } from './lua.ts';
import { scriptKeys } from './scriptKeys.ts';
import type { ClaimRef } from './types/claim.ts';
import type { BudgetLimits } from './types/limits.ts';

const DAY_MS = 86_400_000;
/** After its run is gone, at most so long: a run may wait that long. */
const KEPT_S = 100 * 86_400;
/** The field prefix of a project in `usage`; a workflow has that of its group. */
const PROJECT = 'project';
/** What is kept of a group or of the project, after its prefix. */
const FIELDS = ['day', 'tokens', 'cost', 'currency'];

/** What a budget limits, in the order in which budgets are checked. */
export type BudgetScope = 'step' | 'run' | 'day' | 'project';

/** `used_today(scope, today)`: the tokens and cost that are charged to the scope today. */
const USED_TODAY = defineFragment({
  needs: ['usage'],
  gives: ['used_today'],
  lua: `
local function used_today(scope, today)
  local day, used_tokens, used_cost = unpack(
    redis.call('HMGET', usage, scope .. ':day', scope .. ':tokens', scope .. ':cost'))
  if tonumber(day) ~= today then return 0, 0 end
  return tonumber(used_tokens), tonumber(used_cost)
end
`,
});

/**
 * `refusal(scope, limits, used)`: why the limits of the scope do not admit the request; nothing if they do.
 * Notes in `limited` that there is a limit.
 */
const REFUSAL = defineFragment({
  needs: ['tokens', 'cost'],
  gives: ['limited', 'refusal'],
  lua: `
local limited = 0
local function refusal(scope, most_tokens, most_cost, used_tokens, used_cost)
  most_tokens, most_cost = tonumber(most_tokens or ''), tonumber(most_cost or '')
  if most_tokens or most_cost then limited = 1 end
  if most_cost and cost == '' then return {'price-unknown', scope} end
  if most_tokens and used_tokens + tonumber(tokens) > most_tokens then
    return {'exceeded', scope, 'tokens', string.format('%.0f', most_tokens), string.format('%.0f', used_tokens)}
  end
  if most_cost and used_cost + tonumber(cost) > most_cost then
    return {'exceeded', scope, 'cost', string.format('%.0f', most_cost), string.format('%.0f', used_cost)}
  end
end
`,
});

/** Charges the reservation to the step, the run, the workflow and the project. */
const CHARGE = defineFragment({
  needs: [
    'usage',
    'run',
    'spent',
    'used_today',
    'tokens',
    'cost',
    'currency',
    'step',
    'step_tokens',
    'step_cost',
    'today',
    'group',
  ],
  gives: ['price'],
  lua: `
local price = cost == '' and '0' or cost
for _, scope in ipairs({group, '${PROJECT}'}) do
  local used_tokens, used_cost = used_today(scope, today)
  redis.call('HSET', usage, scope .. ':day', today, scope .. ':tokens', string.format('%.0f', used_tokens + tokens),
    scope .. ':cost', string.format('%.0f', used_cost + price), scope .. ':currency', currency)
end
if step_tokens ~= '' or step_cost ~= '' then
  redis.call('HINCRBY', spent, 'tokens ' .. step, tokens)
  redis.call('HINCRBY', spent, 'cost ' .. step, price)
end
redis.call('HINCRBY', run, 'tokens', tokens)
redis.call('HINCRBY', run, 'cost', price)
redis.call('HINCRBY', run, 'estimated', tokens)
redis.call('HSET', run, 'currency', currency)
`,
});

const RESERVE = defineScript({
  flags: 'drains',
  keys: ['meta', 'claims', 'run', 'wf', 'spent', 'usage'],
  args: [
    'run_id',
    'token',
    // Names the call and its delivery.
    'id',
    // The located key of the step.
    'step',
    'tokens',
    // Nano-units; empty where the price is unknown.
    'cost',
    'currency',
    // What is kept of the price.
    'rates',
    'step_tokens',
    'step_cost',
  ],
  answers: {
    fenced: "the claim is not the caller's",
    reserved: 'and 1 where a limit applies',
    exceeded: 'which budget, tokens or cost, the limit, and what is used',
    'price-unknown': 'which budget limits the cost',
  },
  body: `
    ${FENCE}
    ${NOW}
    local group, run_tokens, run_cost = unpack(redis.call('HMGET', run, 'wf', 'tokens', 'cost'))
    if not group then return 'fenced' end
    local today = math.floor(now / ${DAY_MS})
    ${USED_TODAY}
    ${REFUSAL}
    local most_run_tokens, most_run_cost, most_day_tokens, most_day_cost, most_project_tokens, most_project_cost = unpack(
      redis.call('HMGET', wf, 'budget:run:tokens', 'budget:run:cost', 'budget:day:tokens', 'budget:day:cost',
        'budget:project:tokens', 'budget:project:cost'))
    local known, used_tokens, used_cost = unpack(redis.call('HMGET', spent, id, 'tokens ' .. step, 'cost ' .. step))
    local day_tokens, day_cost = used_today(group, today)
    local project_tokens, project_cost = used_today('${PROJECT}', today)
    local refused = refusal('step', step_tokens, step_cost, tonumber(used_tokens or 0), tonumber(used_cost or 0))
      or refusal('run', most_run_tokens, most_run_cost, tonumber(run_tokens or 0), tonumber(run_cost or 0))
      or refusal('day', most_day_tokens, most_day_cost, day_tokens, day_cost)
      or refusal('project', most_project_tokens, most_project_cost, project_tokens, project_cost)
    -- Reserved before, and the answer was lost.
    if known then return {'reserved', limited} end
    if refused then return refused end
    ${CHARGE}
    redis.call('HSET', spent, id, tokens .. ' ' .. price .. ' ' .. today .. ' ' .. step .. ' ' .. rates)
    redis.call('EXPIRE', spent, ${KEPT_S})
    return {'reserved', limited}
  `,
});

/** A request to a model, before it is sent. `cost`: nano-units; left out where the price is unknown. */
export type Demand = {
  /** Names the call and its delivery: the same ID is reserved once. */
  id: string;
  /** The located key of the step. */
  step: string;
  tokens: number;
  cost?: number;
  currency: string;
  /** The rates by which it will be settled, as text without a space. */
  rates?: string;
  /** The budget of the step. */
  limit?: BudgetLimit;
};

export type Reserved =
  | { outcome: 'reserved'; isLimited: boolean }
  /** `limit`, `used`: tokens or nano-units. */
  | { outcome: 'exceeded'; scope: BudgetScope; what: 'tokens' | 'cost'; limit: number; used: number }
  | { outcome: 'price-unknown'; scope: BudgetScope }
  | { outcome: 'fenced' }
  | Unavailable;

/**
 * Charges the request to its step, run, workflow and project, unless a limit does not admit it: then nothing
 * is charged. A repeated call with the same ID charges nothing more.
 */
export function reserve(conn: RunStoreConnection, ref: ClaimRef, demand: Demand): Promise<Reserved> {
  const { id, step, tokens, cost, currency, rates = '', limit } = demand;
  return orUnavailable(async (): Promise<Reserved> => {
    const args = argumentsOf(RESERVE, {
      run_id: ref.run,
      token: ref.token,
      id: `r ${id}`,
      step,
      tokens,
      cost: cost ?? '',
      currency,
      rates,
      step_tokens: limit?.tokens ?? '',
      step_cost: limit?.cost ?? '',
    });
    const answer = (await conn.script(RESERVE, scriptKeys(RESERVE, ref), args)) as string | unknown[];
    if (typeof answer === 'string') return { outcome: 'fenced' };
    const [word, scope, what, most, used] = answer;
    if (word === 'reserved') return { outcome: 'reserved', isLimited: scope === 1 };
    const found = { scope: scope as BudgetScope };
    if (word === 'price-unknown') return { outcome: 'price-unknown', ...found };
    const amounts = { what: what as 'tokens' | 'cost', limit: Number(most), used: Number(used) };
    return { outcome: 'exceeded', ...found, ...amounts };
  });
}

/** `correct(tokens, cost)`: adds the difference to what was reserved wherever that is charged. */
const CORRECT = defineFragment({
  needs: ['usage', 'run', 'spent', 'group', 'day', 'step', 'reserved_tokens'],
  gives: ['correct'],
  lua: `
local function correct(more_tokens, more_cost)
  for _, scope in ipairs({group, '${PROJECT}'}) do
    if redis.call('HGET', usage, scope .. ':day') == day then
      redis.call('HINCRBY', usage, scope .. ':tokens', more_tokens)
      redis.call('HINCRBY', usage, scope .. ':cost', more_cost)
    end
  end
  if redis.call('HEXISTS', spent, 'tokens ' .. step) == 1 then
    redis.call('HINCRBY', spent, 'tokens ' .. step, more_tokens)
    redis.call('HINCRBY', spent, 'cost ' .. step, more_cost)
  end
  redis.call('HINCRBY', run, 'tokens', more_tokens)
  redis.call('HINCRBY', run, 'cost', more_cost)
  redis.call('HINCRBY', run, 'estimated', string.format('%.0f', 0 - reserved_tokens))
end
`,
});

const SETTLE = defineScript({
  flags: 'drains',
  keys: ['meta', 'run', 'spent', 'usage'],
  // `tokens` and `cost` are empty where the provider counted nothing.
  args: ['id', 'tokens', 'cost'],
  answers: {
    settled: 'the difference to the reservation is charged, or subtracted',
    estimated: 'the reservation stays charged',
    unknown: 'there is no such reservation: it was settled before, or its run has ended',
  },
  body: `
    ${REQUIRE_STORE}
    local reserved, group = redis.call('HGET', spent, id), redis.call('HGET', run, 'wf')
    if not reserved or not group then return 'unknown' end
    redis.call('HDEL', spent, id)
    if tokens == '' then return 'estimated' end
    local reserved_tokens, reserved_cost, day, step = string.match(reserved, '^(%d+) (%d+) (%d+) ([^ ]+)')
    ${CORRECT}
    correct(string.format('%.0f', tokens - reserved_tokens), string.format('%.0f', cost - reserved_cost))
    return 'settled'
  `,
});

/** What a request used; undefined where the provider did not say. `cost`: nano-units. */
export type Used = { tokens: number; cost: number } | undefined;

export type Settled = { outcome: 'settled' | 'estimated' | 'unknown' } | Unavailable;

/**
 * Charges what the request used in place of what was reserved for it. Without `used` the reservation stays
 * charged. Needs no claim: the provider answered, whoever holds the run now.
 */
export function settle(conn: RunStoreConnection, ref: ClaimRef, id: string, used: Used): Promise<Settled> {
  return orUnavailable(async () => {
    const args = argumentsOf(SETTLE, { id: `r ${id}`, tokens: used?.tokens ?? '', cost: used?.cost ?? '' });
    const outcome = await conn.script(SETTLE, scriptKeys(SETTLE, ref), args);
    return { outcome: outcome as 'settled' | 'estimated' | 'unknown' };
  });
}

/** The fields of `wf` that hold the limits. An empty value is no limit. */
export function budgetFields({ run, day, project }: BudgetLimits = {}): Record<string, number | string> {
  const scopes = Object.entries({ run, day, project });
  return Object.fromEntries(
    scopes.flatMap(([scope, limit]) => [
      [`budget:${scope}:tokens`, limit?.tokens ?? ''],
      [`budget:${scope}:cost`, limit?.cost ?? ''],
    ]),
  );
}

/** What is charged to a group of runs on the last day on which one of them asked a model. */
export type DayUsage = {
  /** Days since 1970, in UTC. */
  day: number;
  tokens: number;
  /** Nano-units. */
  cost: number;
  currency: string;
};

/** The usage of a group, or of the project where no group is named; undefined where there was none. */
export function readDayUsage(
  conn: RunStoreConnection,
  project: ProjectUid,
  group: RunGroup = PROJECT,
): Promise<DayUsage | undefined | Unavailable> {
  const fields = FIELDS.map((name) => `${group}:${name}`);
  return orUnavailable(async () => {
    const values = await conn.command('hmget', keysOf(project).usage, ...fields);
    return dayUsageOf(values as (string | null)[]);
  });
}

function dayUsageOf([day, tokens, cost, currency]: readonly (string | null | undefined)[]):
  | DayUsage
  | undefined {
  if (typeof day !== 'string') return undefined;
  return { day: Number(day), tokens: countOf(tokens), cost: countOf(cost), currency: currency ?? '' };
}

/** What is charged to a project, and to the groups of its runs, each on its last day. */
export type ProjectDayUsage = { project: DayUsage | undefined; groups: Map<RunGroup, DayUsage> };

/** The usage of the project and of all its groups, read at one moment: the groups of a day add up to it. */
export function readProjectUsage(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<ProjectDayUsage | Unavailable> {
  return orUnavailable(async () => {
    const fields = (await conn.command('hgetall', keysOf(project).usage)) as Record<string, string>;
    const groups = new Map<RunGroup, DayUsage>();
    for (const field of Object.keys(fields)) {
      if (!field.endsWith(':day')) continue;
      const group = field.slice(0, -':day'.length);
      const usage = dayUsageOf(FIELDS.map((name) => fields[`${group}:${name}`]));
      if (usage !== undefined) groups.set(group, usage);
    }
    const whole = groups.get(PROJECT);
    groups.delete(PROJECT);
    return { project: whole, groups };
  });
}

/** Removes the usage of a workflow that is gone. */
export async function forgetUsage(
  conn: RunStoreConnection,
  project: ProjectUid,
  groups: readonly RunGroup[],
): Promise<void> {
  const fields = groups.flatMap((group) => FIELDS.map((name) => `${group}:${name}`));
  await conn.command('hdel', keysOf(project).usage, ...fields);
}
