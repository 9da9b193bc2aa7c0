/** Workflows with a schedule at every minute. */
import { stringify } from 'yaml';
import { kubectl, type ClusterAccess } from '../cluster/kubectl.ts';
import { waitForReady } from './install.ts';

type Where = { cluster: ClusterAccess; project: string };

/** Applies so many schedules and waits until they are ready; gives their names. */
export async function applySchedules({ cluster, project }: Where, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `minutely-${index}`);
  const trigger = { id: 'trigger', schedule: { cron: '* * * * *', timeZone: 'Europe/Berlin' } };
  const values = { at: 'nodes.trigger.data_content.scheduled_time' };
  const nodes = [trigger, { id: 'say', skill: { name: 'set', parameters: { values } } }];
  const manifests = names.map((name) => ({
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Workflow',
    metadata: { name },
    spec: { active: true, nodes, history: { succeeded: 100, failed: 100 } },
  }));
  const input = manifests.map((manifest) => stringify(manifest)).join('---\n');
  await kubectl(cluster, ['apply', '-n', project, '-f', '-'], { input });
  await Promise.all(names.map((name) => waitForReady(cluster, name, project)));
  return names;
}
