/**
 * Stands in for the controller of Deployments and for the kubelet: a project has as many runners as its
 * Deployment asks for, and its status says how many have started.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { deployments } from '../../../kube/resource.ts';
import type { Kept } from '../storm/kept.ts';
import { keep, runnerStarter, type Ways } from '../storm/programs.ts';

const EVERY_MS = 100;
const POOL = 'windlass-runner';

/** Follows the Deployment until the end. The list has the runners that there are; it changes with them. */
export async function followPool(ways: Ways, namespace: string, project: string): Promise<Kept[]> {
  const { client } = ways.base;
  const ref = { namespace, name: POOL };
  const start = await runnerStarter(ways, namespace, project);
  const runners: Kept[] = [];
  let made = 0;

  const add = (): void => {
    const pod = `runner-${made}`;
    made += 1;
    runners.push(keep(ways, pod, (log) => start({ pod, log })));
  };
  const follow = async (): Promise<void> => {
    const { metadata, spec, status } = await client.get(deployments, ref);
    const replicas = spec?.replicas ?? 1;
    while (runners.length < replicas) add();
    // They end beside those that there are, as pods do.
    while (runners.length > replicas) void runners.shift()?.end();
    const availableReplicas = runners.filter(hasStarted).length;
    const observedGeneration = metadata.generation ?? 0;
    const isSame =
      status?.observedGeneration === observedGeneration &&
      (status.availableReplicas ?? 0) === availableReplicas;
    if (isSame) return;
    const counts = { replicas, updatedReplicas: replicas, readyReplicas: availableReplicas };
    const next = { observedGeneration, ...counts, availableReplicas };
    await client.patch(deployments, ref, { status: next }, { type: 'merge', subresource: 'status' });
  };

  const stopping = new AbortController();
  const following = (async () => {
    while (!stopping.signal.aborted) {
      // The API server may be away.
      await follow().catch(() => undefined);
      await delay(EVERY_MS);
    }
  })();
  ways.closers.add(async () => {
    stopping.abort();
    await following;
  });
  return runners;
}

const hasStarted = (runner: Kept): boolean => runner.log().some((line) => line.includes('"listening"'));
