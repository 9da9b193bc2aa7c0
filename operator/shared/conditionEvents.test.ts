import { expect, test } from 'vitest';
import type { Reason } from '../../api/conditions.ts';
import { setCondition } from '../../kube/conditions.ts';
import type { Condition, ConditionStatus } from '../../kube/resource.ts';
import { occurrencesOf, recordConditions } from './conditionEvents.ts';

type Said = [type: 'Ready' | 'Valid' | 'Active', status: ConditionStatus, reason: Reason];

const listOf = (...said: Said[]) =>
  said.reduce<readonly Condition[]>(
    (list, [type, status, reason]) => setCondition(list, { type, status, reason, message: 'm' }, new Date(0)),
    [],
  );
const told = (before: Said[], after: Said[]) =>
  occurrencesOf(listOf(...before), listOf(...after)).map(({ type, reason }) => `${type} ${reason}`);

const PENDING: Said = ['Ready', 'Unknown', 'Pending'];
const SERVING: Said = ['Ready', 'True', 'Serving'];
const MISSING: Said = ['Ready', 'False', 'CredentialMissing'];
const STARTING: Said = ['Ready', 'False', 'PoolStarting'];
const VALID: Said = ['Valid', 'True', 'Accepted'];
const FULL: Said[] = [['Active', 'False', 'ProjectFull']];
const INVALID: Said[] = [
  ['Valid', 'False', 'UnknownSkill'],
  ['Ready', 'False', 'UnknownSkill'],
];

test.each<[sentence: string, before: Said[], after: Said[], told: string[]]>([
  ['has become ready', [PENDING], [VALID, SERVING], ['Normal Serving']],
  ['says the same as before', [VALID, SERVING], [VALID, SERVING], []],
  ['misses a credential', [PENDING], [VALID, MISSING], ['Warning CredentialMissing']],
  ['misses a credential after it was ready', [SERVING], [MISSING], ['Warning CredentialMissing']],
  ['has another problem', [MISSING], [['Ready', 'False', 'PodsRefused']], ['Warning PodsRefused']],
  ['is starting', [PENDING], [STARTING], []],
  ['takes effect again', [SERVING], [['Ready', 'False', 'WaitingForReplicas']], []],
  ['has taken effect again', [['Ready', 'False', 'WaitingForReplicas']], [SERVING], ['Normal Serving']],
  ['is being checked', [SERVING], [['Ready', 'Unknown', 'CredentialNotReady']], []],
  ['is suspended', [SERVING], [['Ready', 'True', 'Suspended']], ['Normal Suspended']],
  ['is invalid', [PENDING], INVALID, ['Warning UnknownSkill']],
  ['is in a project that has become full', [['Active', 'True', 'Serving']], FULL, ['Warning ProjectFull']],
  ['is in a project that is full still', FULL, FULL, []],
  ['is in a project that has room again', FULL, [['Active', 'True', 'Serving']], []],
  ['is valid again', INVALID, [VALID, SERVING], ['Normal Accepted', 'Normal Serving']],
])('the Events of an object that %s', (_sentence, before, after, expected) => {
  expect(told(before, after)).toEqual(expected);
});

test('an Event names the condition, its status and its message', () => {
  expect(occurrencesOf([], listOf(MISSING))).toEqual([
    { type: 'Warning', reason: 'CredentialMissing', action: 'Reconcile', note: 'Ready=False: m' },
  ]);
});

test.each<[kind: string, spec: object, count: number]>([
  ['http', { http: {} }, 1],
  ['oauth2, of which the renewal of its tokens tells,', { oauth2: {} }, 0],
])('that a credential of kind %s has expired is told as often as %3$i', (_kind, spec, count) => {
  const told: string[] = [];
  const credential = {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Credential',
    metadata: { name: 'a' },
    spec,
  };
  const events = { record: (_object: object, { reason }: { reason: string }) => told.push(reason) > 0 };
  recordConditions(events, credential, listOf(SERVING), listOf(['Ready', 'False', 'Expired']));
  expect(told).toHaveLength(count);
});
