/** Whether a project has a runner that is ready. */
import type { World } from '../world.ts';
import { POOL } from './names.ts';

/** True if the pool's Deployment has an available pod. */
export function isPoolReady({ deployments }: Pick<World, 'deployments'>, namespace: string): boolean {
  return (deployments.get(namespace, POOL)?.status?.availableReplicas ?? 0) > 0;
}
