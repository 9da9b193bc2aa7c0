/** When the runner pools of projects have no replicas, and when they have some again. */
import { EventEmitter, once } from 'node:events';
import type { KubeConnection } from '../../../kube/config.ts';
import { POOL } from '../../../operator/shared/names.ts';
import { follow } from '../watch.ts';
import { replicasAt, type PoolChange } from './evidence.ts';

export type Pools = {
  /** All so far; the first one of each project is what was found. */
  changes: readonly PoolChange[];
  isAsleep(project: string): boolean;
  /** Resolves when the pool has no replicas, or has some, or as long after. */
  until(state: 'asleep' | 'awake', project: string, timeoutMs: number): Promise<void>;
  /** Calls back with each change. */
  onChange(listener: (change: PoolChange) => void): void;
  stop(): Promise<void>;
};

type Deployment = {
  metadata: { name: string; namespace: string; resourceVersion: string };
  spec: { replicas: number };
};

const stateOf = (replicas: number | undefined) => (replicas === 0 ? 'asleep' : 'awake');

/** Watches the Deployments of these projects. */
export function watchPools(connection: KubeConnection, projects: readonly string[]): Pools {
  const changes: PoolChange[] = [];
  const emitter = new EventEmitter();
  emitter.setMaxListeners(0);
  const known = (project: string) => replicasAt(changes, project, Infinity);
  const following = follow(connection, '/apis/apps/v1/deployments', (object) => {
    const { metadata, spec } = object as Deployment;
    const { name, namespace: project } = metadata;
    const before = known(project);
    if (name !== POOL || !projects.includes(project) || before === spec.replicas) return;
    const change = { project, at: Date.now(), replicas: spec.replicas };
    changes.push(change);
    emitter.emit(`${project} ${stateOf(spec.replicas)}`);
    if (before !== undefined) emitter.emit('change', change);
  });
  return {
    changes,
    isAsleep: (project) => known(project) === 0,
    until: async (state, project, timeoutMs) => {
      if (stateOf(known(project)) === state) return;
      const signal = AbortSignal.timeout(timeoutMs);
      await once(emitter, `${project} ${state}`, { signal }).catch(() => undefined);
    },
    onChange: (listener) => void emitter.on('change', listener),
    stop: () => following.stop(),
  };
}
