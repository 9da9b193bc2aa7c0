/** The scenes that are played. */
import { POINTS, SEQUENCES } from './killScenes.ts';
import { BOTH, BUDGETS, FROZEN, GATEWAYS, QUEUES, REDIS, SHUTDOWNS } from './otherScenes.ts';
import type { Draft, Scene } from './points.ts';
import { WIDE } from './workflows.ts';

const sceneOf =
  (prefix: string) =>
  ([name, blows, more]: Draft, index: number): Scene => ({
    id: `${prefix}${index + 1}`,
    name,
    blows,
    mode: 'serial',
    expected: 'Succeeded',
    limits: WIDE,
    sessions: 1,
    ...more,
  });

const scenesOf = (prefix: string, drafts: readonly Draft[]): Scene[] => drafts.map(sceneOf(prefix));

/** Each in a project of its own, several at the same time. */
export const OWN_SCENES: readonly Scene[] = [
  ...scenesOf('sequence-', SEQUENCES),
  ...scenesOf('queue-', QUEUES),
  ...scenesOf('frozen-', FROZEN),
  ...scenesOf('shutdown-', SHUTDOWNS),
  ...scenesOf('budget-', BUDGETS),
  ...scenesOf('point-', POINTS),
];
/** One list after the other. */
export const SHARED_SCENES: readonly (readonly Scene[])[] = [
  scenesOf('redis-', REDIS),
  scenesOf('gateways-', GATEWAYS),
  scenesOf('both-', BOTH),
];
