import { expect, test } from 'vitest';
import { findCondition } from '../../kube/conditions.ts';
import type { Condition } from '../../kube/resource.ts';
import { settingsConditions, type SettingsFacts } from './conditions.ts';

const now = new Date('2026-11-23T12:00:00Z');
const applied: SettingsFacts = {
  generation: 2,
  refusals: [],
  hasPool: true,
  hasRunner: true,
  isAsleep: false,
  pool: {},
  rollout: { kind: 'Complete' },
  scaling: undefined,
};

test.each<[string, Partial<SettingsFacts>, status: string, reason: string, message: string]>([
  ['in effect', {}, 'True', 'SettingsApplied', 'The settings are in effect.'],
  [
    'in effect while runners sleep',
    { isAsleep: true, hasRunner: false },
    'True',
    'SettingsApplied',
    'The settings are in effect. The runners sleep until there is work.',
  ],
  ['being rolled out', { rollout: { kind: 'RollingOut' } }, 'Unknown', 'RollingOut', 'being replaced'],
  [
    'in effect, but another autoscaler fights',
    { scaling: { reason: 'ScalingConflict', message: 'Delete it.' } },
    'False',
    'ScalingConflict',
    'Delete it.',
  ],
  [
    'in effect, as far as autoscalers are not known yet',
    { scaling: 'Unknown' },
    'True',
    'SettingsApplied',
    'The settings are in effect.',
  ],
  [
    'rolled out to nodes that are awaited',
    { rollout: { kind: 'RollingOut', message: '0/1 nodes' } },
    'Unknown',
    'RollingOut',
    'Not every runner has these settings yet. 0/1 nodes',
  ],
  [
    'for nodes that do not exist',
    { rollout: { kind: 'Blocked', reason: 'PodsNotReady', message: '0/1 nodes are available' } },
    'False',
    'PodsNotReady',
    'runners from before go on: 0/1 nodes are available. Correct the settings',
  ],
  [
    'of a project whose quota admits no runner',
    {
      hasRunner: false,
      rollout: { kind: 'Blocked', reason: 'PodsRefused', message: 'exceeded quota: compute' },
    },
    'False',
    'PodsRefused',
    'no other runner is there, so that runs wait: exceeded quota: compute. Change the named ResourceQuota',
  ],
  ['not in the pool yet', { pool: undefined }, 'Unknown', 'Pending', 'does not have these settings yet'],
  [
    'of a project without workflows',
    { hasPool: false, pool: undefined },
    'True',
    'Accepted',
    'first workflow',
  ],
  [
    'not admitted',
    { refusals: ['a', 'b'] },
    'False',
    'SettingsNotAdmitted',
    'a; b. For these the values of the installation stay',
  ],
  ['refused by the API server', { pool: { refused: 'no' } }, 'False', 'SettingsInvalid', 'are in effect: no'],
  [
    'of a pool that may not be written',
    { pool: { blocked: { reason: 'Unauthorized', message: 'no' } } },
    'False',
    'Unauthorized',
    'may not be in effect. no',
  ],
])('settings that are %s say so', (_what, facts, status, reason, message) => {
  const conditions = settingsConditions({ ...applied, ...facts }, [], now);
  expect(findCondition(conditions, 'Ready')).toMatchObject({ status, reason, observedGeneration: 2 });
  expect(findCondition(conditions, 'Ready')?.message).toContain(message);
  expect(findCondition(conditions, 'Stalled')?.status).toBe(
    ['SettingsNotAdmitted', 'SettingsInvalid', 'ScalingConflict'].includes(reason) ? 'True' : undefined,
  );
});

test('corrected settings are no longer stalled', () => {
  const stalled = settingsConditions({ ...applied, refusals: ['a'] }, [], now);
  expect(settingsConditions(applied, stalled, now).map(({ type }) => type)).toEqual(['Ready']);
});

test.each<[string, SettingsFacts]>([
  ['in effect', applied],
  ['refused', { ...applied, pool: { refused: 'no' } }],
  [
    'of a pool that may not be written',
    { ...applied, pool: { blocked: { reason: 'Unauthorized', message: 'no' } } },
  ],
])('settings that are %s say so until the next operator has applied them itself', (_what, facts) => {
  const before = settingsConditions(facts, [], now);
  const later = new Date('2026-11-23T13:00:00Z');
  const started: SettingsFacts = { ...applied, pool: undefined };
  expect(settingsConditions(started, before, later)).toBe(before);
  expect(readyOf(settingsConditions(facts, before, later))).toEqual(readyOf(before));
  // Not of other settings, nor with other bounds of the installation.
  expect(readyOf(settingsConditions({ ...started, generation: 3 }, before, later))?.reason).toBe('Pending');
  expect(readyOf(settingsConditions({ ...started, refusals: ['a'] }, before, later))?.reason).toBe(
    'SettingsNotAdmitted',
  );
});

test('a fight stays named until the next operator knows what sets the number of runners', () => {
  const fight: SettingsFacts = { ...applied, scaling: { reason: 'ScalingConflict', message: 'Delete it.' } };
  const before = settingsConditions(fight, [], now);
  expect(settingsConditions({ ...applied, scaling: 'Unknown' }, before, now)).toBe(before);
  expect(readyOf(settingsConditions(applied, before, now))?.reason).toBe('SettingsApplied');
});

test('settings of a project that gets its first workflow are not in effect yet', () => {
  const accepted = settingsConditions({ ...applied, hasPool: false }, [], now);
  expect(readyOf(settingsConditions({ ...applied, pool: undefined }, accepted, now))?.reason).toBe('Pending');
});

const readyOf = (conditions: readonly Condition[]) => findCondition(conditions, 'Ready');
