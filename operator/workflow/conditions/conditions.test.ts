import { expect, test } from 'vitest';
import { CONDITION, REASON } from '../../../api/conditions.ts';
import { keptRevisionIn } from '../../../api/keptRevision.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { conditionsOf } from './conditions.ts';
import type { Facts } from './facts.ts';

const now = new Date('2026-01-02T03:04:05Z');
const good: Facts = {
  generation: 3,
  active: true,
  suspended: false,
  waitingRuns: 0,
  violations: [],
  notes: [],
  credentials: [],
  namesCredentials: true,
  pool: { kind: 'Ready' },
  route: { kind: 'applied', routing: { kind: 'Served', settling: false } },
  serving: 'A POST starts a run.',
};

function ready(facts: Partial<Facts>) {
  const { status, reason } = findCondition(conditionsOf({ ...good, ...facts }, [], now), 'Ready') ?? {};
  return `${status}/${reason}`;
}

const violations: Facts['violations'] = [{ reason: 'UnknownSkill', message: 'no such skill' }];
const missing: Facts['credentials'] = [{ reason: 'CredentialMissing', message: 'no llm', isKnown: true }];
const wrongKind: Facts['credentials'] = [
  { reason: 'WrongCredentialKind', message: 'not openai', isKnown: true, needsChange: true },
];
const unchecked: Facts['credentials'] = [
  { reason: 'CredentialNotReady', message: 'being checked', isKnown: false },
];
const taken: NonNullable<Facts['unserved']> = { reason: 'BotTaken', message: 'workflow one has it' };
const unverifiable: NonNullable<Facts['unverifiable']> = { reason: 'KeyMissing', message: 'no key token' };
const starting: Facts['pool'] = { kind: 'Starting' };
const QUOTA = 'pods "windlass-runner-1" is forbidden: exceeded quota: compute';
const blocked: Facts['pool'] = { kind: 'Blocked', reason: 'PodsRefused', message: QUOTA };
const unauthorized = (hasRunner: boolean): Facts['pool'] => ({
  kind: 'Refused',
  reason: 'Unauthorized',
  message: 'no',
  hasRunner,
});
const lagging: Facts['route'] = {
  kind: 'applied',
  routing: { kind: 'Lagging', replicas: ['gateway-1'], ms: 2_000 },
};
const noGateway: Facts['route'] = { kind: 'applied', routing: { kind: 'NoGateway' } };

const rules = { cron: '0 9 * * *', timeZone: 'UTC', latestSeconds: 300 };
const placed = { kind: 'placed', cronJob: 'report-1', rules } as const;
const failing = (inSeconds: number) => ({ since: 0, from: now.getTime() + inSeconds * 1_000 });
const refused = {
  kind: 'refused',
  reason: 'InvalidSchedule',
  message: 'unknown time zone',
  retryAfterMs: 1_000,
  rules,
} as const;
const overQuota = { ...refused, reason: 'QuotaExceeded', cronJob: 'report-1' } as const;

const cases: [sentence: string, facts: Partial<Facts>, ready: string][] = [
  ['everything is in effect', {}, 'True/Serving'],
  ['the spec is invalid', { violations, route: { kind: 'invalid' } }, 'False/UnknownSkill'],
  ['a credential is missing', { credentials: missing }, 'False/CredentialMissing'],
  ['a credential was not checked yet', { credentials: unchecked }, 'Unknown/CredentialNotReady'],
  ['callers of its webhook cannot be verified', { unverifiable }, 'False/KeyMissing'],
  ['another workflow has its bot', { unserved: taken }, 'False/BotTaken'],
  ['no runner is ready', { pool: starting }, 'False/PoolStarting'],
  ['no runner may be made', { pool: unauthorized(false) }, 'False/Unauthorized'],
  ['a quota refuses the pods of runners', { pool: blocked }, 'False/PodsRefused'],
  ['a replica does not serve it yet', { route: lagging }, 'False/WaitingForReplicas'],
  ['there is no gateway', { route: noGateway }, 'False/NoGateway'],
  ['the run store is away', { route: { kind: 'store-unavailable' } }, 'False/StoreUnavailable'],
  [
    'another object has the name of its revision',
    { route: { kind: 'name-taken', message: 'delete it' } },
    'False/RevisionNameTaken',
  ],
  ['a right is lacking', { route: { kind: 'unauthorized', message: 'no' } }, 'False/Unauthorized'],
  ['its CronJob is in place', { schedule: placed }, 'True/Serving'],
  ['its ticks fail', { schedule: { ...placed, failing: failing(-1) } }, 'False/TicksFail'],
  ['a tick is under way', { schedule: { ...placed, failing: failing(1) } }, 'True/Serving'],
  ['its schedule is refused', { schedule: refused }, 'False/InvalidSchedule'],
  ['a quota admits no CronJob', { schedule: overQuota }, 'False/QuotaExceeded'],
  ['its account answers', { poll: { status: 'True', reason: 'Polled', message: '' } }, 'True/Serving'],
  ['its account refuses', { poll: { status: 'False', reason: 'Rejected', message: '' } }, 'False/Rejected'],
  [
    'its account was not polled yet',
    { poll: { status: 'Unknown', reason: 'Pending', message: '' } },
    'Unknown/Pending',
  ],
  ['it is switched off everywhere', { active: false }, 'True/Inactive'],
  ['it is suspended', { active: false, suspended: true }, 'True/Suspended'],
  [
    'the run store does not know yet that it is suspended',
    { active: false, suspended: true, route: { kind: 'store-unavailable' } },
    'False/StoreUnavailable',
  ],
  [
    'it is switched off and a replica still serves it',
    { active: false, route: lagging },
    'False/WaitingForReplicas',
  ],
  [
    'it is switched off and has neither credential nor runner',
    { active: false, credentials: missing, pool: starting },
    'True/Inactive',
  ],
  [
    'it is switched off and invalid',
    { active: false, violations, route: { kind: 'invalid' } },
    'False/UnknownSkill',
  ],
];

test.each(cases)('when %s Ready is %3$s', (_sentence, facts, expected) => {
  expect(ready(facts)).toBe(expected);
});

test.each<[string, Partial<Facts>, RegExp]>([
  ['is invalid', { violations, route: { kind: 'invalid' } }, /^The runner pool starts when a workflow/],
  ['has not taken effect', { route: { kind: 'store-unavailable' } }, /^The runner pool starts when the spec/],
])('a namespace whose only workflow %s has no pool that starts', (_what, facts, message) => {
  const list = conditionsOf({ ...good, ...facts, pool: { kind: 'Absent' } }, [], now);
  const pool = findCondition(list, 'PoolReady');
  expect(pool).toMatchObject({ status: 'Unknown', reason: 'PoolNotStarted' });
  expect(pool?.message).toMatch(message);
  expect(pool?.message).not.toContain('kubectl describe deployment');
});

test('a runner that works beside newer ones that cannot start is ready, and the condition says both', () => {
  const list = conditionsOf({ ...good, pool: { kind: 'Ready', newer: '0/1 nodes are available' } }, [], now);
  expect(findCondition(list, 'Ready')).toMatchObject({ status: 'True', reason: 'Serving' });
  expect(findCondition(list, 'PoolReady')).toMatchObject({
    status: 'True',
    message: expect.stringMatching(
      /^A runner is ready. Newer runners cannot start: 0\/1 nodes are available. Inspect/,
    ),
  });
});

const messageOf = (facts: Partial<Facts>, type = 'Ready') =>
  findCondition(conditionsOf({ ...good, ...facts }, [], now), type)?.message;

test.each([
  [0, 'queued runs do not start. Set spec.suspend to false to resume it.'],
  [1, 'do not start. 1 run is paused: it starts or continues when it is resumed. Set spec.suspend'],
  [12, 'do not start. 12 runs are paused: they start or continue when it is resumed. Set spec.suspend'],
])(
  'of a suspended workflow with %i paused runs Ready says how many start or continue',
  (waitingRuns, says) => {
    expect(messageOf({ active: false, suspended: true, waitingRuns })).toContain(says);
  },
);

test('a problem does not hide that the workflow is suspended', () => {
  const facts = { active: false, suspended: true, waitingRuns: 2, violations } as const;
  expect(messageOf({ ...facts, route: { kind: 'invalid' } })).toMatch(
    /^no such skill\. The workflow is also suspended: .*2 runs are paused/,
  );
});

test('a workflow that nothing serves any more because of its spec says why, and not that it was never served', () => {
  const facts: Partial<Facts> = { violations, route: { kind: 'invalid' } };
  expect(findCondition(conditionsOf({ ...good, ...facts }, [], now), 'Active')).toMatchObject({
    status: 'False',
    reason: 'UnknownSkill',
    message: 'No event starts a run while the spec is invalid. no such skill',
  });
  for (const type of ['Active', 'Routed']) expect(messageOf(facts, type)).not.toMatch(/yet|before/);
});

test('every condition speaks of the generation that was reconciled, in words of the register', () => {
  const list = conditionsOf({ ...good, violations, credentials: missing, route: noGateway }, [], now);
  expect(list.map(({ type }) => type).toSorted()).toEqual(
    ['Active', 'CredentialsReady', 'PoolReady', 'Ready', 'Routed', 'Stalled', 'Valid'].toSorted(),
  );
  for (const { type, reason, observedGeneration } of list) {
    expect(observedGeneration).toBe(3);
    expect(CONDITION).toHaveProperty(type);
    expect(REASON).toHaveProperty(reason);
  }
});

test('a workflow is Stalled where a manifest must change, and not where an object is missing', () => {
  const isStalled = (facts: Partial<Facts>) =>
    findCondition(conditionsOf({ ...good, ...facts }, [], now), 'Stalled') !== undefined;
  expect(isStalled({ violations })).toBe(true);
  expect(isStalled({ credentials: missing })).toBe(false);
  expect(isStalled({ credentials: wrongKind })).toBe(true);
  expect(isStalled({ credentials: wrongKind, active: false })).toBe(false);
  expect(isStalled({ unverifiable })).toBe(false);
  expect(isStalled({ schedule: refused })).toBe(true);
  expect(isStalled({ credentials: unchecked, pool: starting, route: lagging })).toBe(false);
  expect(isStalled({ schedule: overQuota })).toBe(false);
});

test('a schedule that is refused starts no runs, unless a CronJob is there that does', () => {
  const active = (schedule: Facts['schedule']) =>
    findCondition(conditionsOf({ ...good, ...(schedule && { schedule }) }, [], now), 'Active');
  expect(active(placed)?.status).toBe('True');
  expect(active(refused)).toMatchObject({ status: 'False', reason: 'InvalidSchedule' });
  expect(active(overQuota)).toMatchObject({ status: 'True', reason: 'QuotaExceeded' });
});

test.each([
  [{}, 'Every ready gateway replica serves the current spec.'],
  [{ active: false }, 'Every ready gateway replica has the current spec: the workflow is inactive.'],
  [
    { active: false, suspended: true },
    'Every ready gateway replica has the current spec: the workflow is suspended.',
  ],
])('Routed of a workflow with %j says what the gateway does with it', (facts, message) => {
  expect(messageOf(facts, 'Routed')).toBe(message);
});

test.each<[sentence: string, facts: Partial<Facts>, active: string]>([
  ['has filled its share of the run store', { full: 'quota' }, 'False/ProjectFull'],
  ['has filled its share of keys', { full: 'keys' }, 'True/ProjectFull'],
  ['is full, beside a bot of another workflow', { full: 'quota', unserved: taken }, 'False/BotTaken'],
  ['is full, of a workflow that is switched off', { full: 'quota', active: false }, 'False/Inactive'],
  ['has room', {}, 'True/Serving'],
])('Active in a project that %s', (_sentence, facts, expected) => {
  const list = conditionsOf({ ...good, ...facts }, [], now);
  const { status, reason } = findCondition(list, 'Active') ?? {};
  expect(`${status}/${reason}`).toBe(expected);
  expect(findCondition(list, 'Stalled') !== undefined).toBe('unserved' in facts);
});

test('a mended workflow is not Stalled any more', () => {
  const before = conditionsOf({ ...good, credentials: wrongKind }, [], now);
  expect(findCondition(conditionsOf(good, before, now), 'Stalled')).toBeUndefined();
});

test('nothing new gives the same list, so that nothing is written', () => {
  const before = conditionsOf(good, [], now);
  expect(conditionsOf(good, before, new Date('2026-02-02T00:00:00Z'))).toBe(before);
});

test('an invalid spec says which revision goes on, and that events still start its runs', () => {
  const list = conditionsOf(
    { ...good, violations, route: { kind: 'invalid', keeps: 'orders-abc' } },
    [],
    now,
  );
  expect(findCondition(list, 'Routed')?.message).toContain('orders-abc');
  expect(keptRevisionIn(findCondition(list, 'Ready')?.message)).toBe('orders-abc');
  expect(findCondition(list, 'Active')).toMatchObject({ status: 'True', reason: 'InvalidSpec' });
});

test('of many problems the first ten are told, and how many more there are', () => {
  const many = Array.from({ length: 12 }, (_, index) => ({
    reason: 'UnknownSkill' as const,
    message: `p${index}`,
  }));
  const message = findCondition(conditionsOf({ ...good, violations: many }, [], now), 'Valid')?.message;
  expect(message).toMatch(/^p0; .*; p9; and 2 more$/);
});

test.each<[sentence: string, facts: Partial<Facts>, active: string]>([
  ['whose pods a quota refuses', { pool: blocked }, 'False/PodsRefused'],
  ['that may not be made', { pool: unauthorized(false) }, 'False/Unauthorized'],
  [
    'that the API server refuses',
    { pool: { kind: 'Refused', reason: 'PoolInvalid', message: 'no', hasRunner: false } },
    'False/PoolInvalid',
  ],
  ['that may not be changed and still has a runner', { pool: unauthorized(true) }, 'True/Serving'],
  ['that is starting', { pool: starting }, 'True/Serving'],
  [
    'whose pods are refused while an earlier revision is kept',
    { pool: blocked, violations, route: { kind: 'invalid', keeps: 'orders-abc' } },
    'False/PodsRefused',
  ],
  ['that nobody needs since the workflow is inactive', { pool: blocked, active: false }, 'False/Inactive'],
])('Active beside a runner pool %s is %3$s', (_sentence, facts, expected) => {
  const { status, reason } = findCondition(conditionsOf({ ...good, ...facts }, [], now), 'Active') ?? {};
  expect(`${status}/${reason}`).toBe(expected);
});

test('a quota that keeps runners away is named, with what to do', () => {
  expect(messageOf({ pool: blocked })).toBe(
    `The pods of the runners are refused: ${QUOTA}. Change the named ResourceQuota, LimitRange or policy, or the resources of runners (runners.resources in ProjectSettings, or runner.resources of the chart).`,
  );
});

test('while callers cannot be verified no events start runs, and Secret and key are named', () => {
  const list = conditionsOf({ ...good, unverifiable }, [], now);
  expect(findCondition(list, 'CredentialsReady')).toMatchObject({ status: 'False', message: 'no key token' });
  expect(findCondition(list, 'Active')).toMatchObject({ status: 'False', reason: 'KeyMissing' });
});

test('a workflow whose bot another one has starts nothing, and only the user can mend it', () => {
  const list = conditionsOf({ ...good, unserved: taken }, [], now);
  for (const [type, status] of [
    ['Routed', 'False'],
    ['Active', 'False'],
    ['Stalled', 'True'],
  ] as const)
    expect(findCondition(list, type)).toMatchObject({ status, ...taken });
});

test('a bot whose Credential is missing starts nothing, and the route is what it can be', () => {
  const unserved = { reason: 'CredentialMissing', message: 'no Credential bot' } as const;
  const list = conditionsOf({ ...good, unserved }, [], now);
  expect(findCondition(list, 'Active')).toMatchObject({ status: 'False', ...unserved });
  expect(findCondition(list, 'Routed')).toMatchObject({ status: 'True' });
  expect(findCondition(list, 'Stalled')).toBeUndefined();
});

test('a workflow that names no credential says that, and not that all are ready', () => {
  const message = (facts: Facts) => findCondition(conditionsOf(facts, [], now), 'CredentialsReady')?.message;
  expect(message(good)).toBe('All credentials are ready.');
  expect(message({ ...good, namesCredentials: false })).toBe('The workflow names no credentials.');
});

test('a valid spec of which something is not in effect as it is written is valid, and the condition says what', () => {
  const notes = ['node a: timeout is outside 1ms to 24d: 1ms is used instead.'];
  expect(findCondition(conditionsOf({ ...good, notes }, [], now), 'Valid')).toMatchObject({
    status: 'True',
    message: 'The spec is valid. node a: timeout is outside 1ms to 24d: 1ms is used instead.',
  });
});
