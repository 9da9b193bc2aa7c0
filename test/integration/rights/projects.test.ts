/**
 * What a project can do to another one of the same installation: nothing. Whatever it tries is refused, or is
 * about its own; nothing that comes back has a byte of what is the other's; and of the other's nothing is
 * changed.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findCanaries, type Canary } from '../../support/rights/canaries.ts';
import { ask, askRedis, callApi } from '../../support/gateway/rawCalls.ts';
import { snapshotProject } from '../../support/rights/projectSnapshot.ts';
import { openTwoProjects, type TwoProjects } from '../../support/rights/twoProjects.ts';
import type { Attempt } from './attempts/attempt.ts';
import { httpAttempts } from './attempts/http.ts';
import { kubernetesAttempts } from './attempts/kubernetes.ts';
import { objectAttempts } from './attempts/objects.ts';
import { redisAttempts } from './attempts/redis.ts';

let projects: TwoProjects;
let owned: string[];
let canaries: Canary[];

beforeAll(async () => {
  projects = await openTwoProjects();
  canaries = Object.values(projects.canaries);
  owned = await snapshotProject(projects);
}, 120_000);
afterAll(() => projects?.stop());

const found = (text: string): string[] => findCanaries(canaries, [{ name: 'the answer', text }]);

test('the victim itself reads and starts by each of these ways what is its own', async () => {
  const { gateway, victim, known, harness } = projects;
  const path = `/workflows/victim.orders/runs/${known.run}`;
  const byGateway = await ask(gateway.internalURL, { path, token: victim.token });
  expect(found(byGateway)).toEqual(['input in the answer as plain', 'output in the answer as plain']);
  const secret = await callApi(harness.server, {
    path: '/api/v1/namespaces/victim/secrets/accounts',
    token: victim.token,
  });
  expect(found(secret.body).join()).toMatch(/^password in the answer as base64.*,API key in .* as base64/);
  const key = `wl:{${victim.uid}}:run:${known.waiting}`;
  const byRedis = await askRedis(harness.redis.port, victim.pool, ['HGETALL', key]);
  expect(found(byRedis)).toEqual(['input in the answer as plain']);
  expect(owned.filter((line) => line.includes(known.run))).not.toEqual([]);
});

/** What has come, gone or changed of the victim's since. */
function changesOf(now: readonly string[]): string[] {
  const before = new Set(owned);
  const after = new Set(now);
  const gone = owned.filter((line) => !after.has(line)).map((line) => `- ${line}`);
  return [...gone, ...now.filter((line) => !before.has(line)).map((line) => `+ ${line}`)];
}

const attempts: Attempt[] = [...httpAttempts, ...kubernetesAttempts, ...redisAttempts, ...objectAttempts];

test.each(attempts.map((each) => [each.what, each] as const))('%s', async (_what, { attempt, refused }) => {
  const answer = await attempt(projects);
  expect(answer).toMatch(refused);
  expect(found(answer)).toEqual([]);
  expect(changesOf(await snapshotProject(projects))).toEqual([]);
});
