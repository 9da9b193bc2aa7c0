import { describe, expect, test } from 'vitest';
import { KINDS } from '../../api/kinds.ts';
import {
  judgeDefinitions,
  judgeDurability,
  judgePrograms,
  judgeRights,
  judgeVersions,
  judgeWebhooks,
  type Program,
} from './judge.ts';

const program = (component: string, readyReplicas: number, image = 'windlass:1'): Program =>
  ({
    kind: 'Deployment',
    metadata: {
      name: component,
      namespace: 'sys',
      labels: { 'app.kubernetes.io/component': component },
    },
    spec: { replicas: 2, template: { spec: { containers: [{ image }] } } },
    status: { readyReplicas },
  }) as unknown as Program;

describe('the kinds', () => {
  test.each([
    [KINDS.map(({ plural }) => plural), 'ok'],
    [['workflows'], 'error'],
    [undefined, 'error'],
  ])('%j are judged: %s', (served, result) => {
    expect(judgeDefinitions(served).result).toBe(result);
  });
});

test('missing rights are listed, with the command that shows the first one', () => {
  const right = { verb: 'create', group: '', resource: 'pods/portforward', namespace: 'sys' };
  expect(judgeRights([{ ...right, isAllowed: true }]).result).toBe('ok');
  expect(judgeRights([{ ...right, isAllowed: false }])).toMatchObject({
    result: 'warning',
    message: expect.stringContaining('you may not create pods/portforward in sys') as string,
    command: 'kubectl auth can-i create pods/portforward -n sys',
  });
});

test.each([
  [[], 'ok', 'shows no setting'],
  [['NoAppendOnlyFile', 'EvictsKeys'], 'warning', 'may lose what it confirmed: NoAppendOnlyFile, EvictsKeys'],
  [undefined, 'warning', 'could not be asked'],
])('of the run store, where the operator names %j, doctor says %s', (problems, result, message) => {
  const said = { result, message: expect.stringContaining(message) as string };
  expect(judgeDurability(problems, 'sys')).toMatchObject(said);
});

describe('programs', () => {
  test.each([
    [2, 'ok'],
    [1, 'warning'],
    [0, 'error'],
  ])('with %i of 2 ready pods are judged: %s', (ready, result) => {
    expect(judgePrograms([program('gateway', ready)], 'sys')[0]?.result).toBe(result);
  });

  test('that are missing are one error', () => {
    const command = expect.stringMatching(/^helm .* sys$/) as string;
    expect(judgePrograms([], 'sys')).toMatchObject([{ name: 'installation', result: 'error', command }]);
  });

  test('that the user may not list are a warning, which does not say that they are missing', () => {
    const [check] = judgePrograms(undefined, 'sys');
    expect(check).toMatchObject({ name: 'installation', result: 'warning' });
    expect(check?.command).toBe('kubectl auth can-i list deployments.apps -n sys');
  });

  test('of different versions are a warning, and those of others do not count', () => {
    const programs = [program('gateway', 2), program('operator', 2), program('redis', 2, 'redis:7')];
    expect(judgeVersions(programs, 'sys')).toMatchObject([{ result: 'ok' }]);
    expect(judgeVersions([...programs, program('operator', 2, 'windlass:2')], 'sys')).toMatchObject([
      {
        result: 'warning',
        message: expect.stringContaining('windlass:1, windlass:2') as string,
        command: 'helm history windlass -n sys',
      },
    ]);
    expect(judgeVersions([], 'sys')).toEqual([]);
  });
});

describe('webhooks', () => {
  const origin = 'https://hooks.example';
  test.each([
    [undefined, 'ok', 'no workflow of the project'],
    [
      { origin, status: 404, type: 'application/problem+json; charset=utf-8' },
      'ok',
      'answers at https://hooks',
    ],
    [{ origin, status: 404, type: 'text/html' }, 'warning', 'another program answers there, with status 404'],
    [{ origin, problem: 'ENOTFOUND' }, 'warning', 'ENOTFOUND'],
  ] as const)('that answer %j are judged: %s', (answer, result, says) => {
    const check = judgeWebhooks(answer, 'sys');
    expect(check.result).toBe(result);
    expect(check.message).toContain(says);
    expect(check.command ?? 'sys').toContain('sys');
  });
});
