/** `windlass check`. */
import { setTimeout as delay } from 'node:timers/promises';
import { ANNOTATION } from '../../api/group.ts';
import type { Credential } from '../../api/kinds.ts';
import { findCondition } from '../../kube/conditions.ts';
import { withCluster, type Cluster } from '../cluster/cluster.ts';
import { credentials } from '../../operator/shared/resources.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import { tableLines } from '../shared/table.ts';
import type { Terminal } from '../shared/terminal.ts';

const POLL_MS = 500;

/** Requests a check of credentials and prints the results. Fails if one does not work. */
export async function execute(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const seconds = Number(invocation.options['timeout']);
  if (!(seconds > 0)) throw new CommandError(EXIT.usage, '--timeout: write a number of seconds, such as 60');
  return withCluster(invocation, async (cluster) => {
    const names = await namesOf(cluster, invocation.values);
    const until = performance.now() + seconds * 1_000;
    const checked = await Promise.all(names.map((name) => checkOne(cluster, name, until)));
    const rows = checked.map((each) => rowOf(each));
    terminal.print(tableLines(['NAME', 'READY', 'REASON', 'MESSAGE'], rows).join('\n'));
    return rows.every(([, status]) => status === 'True') ? EXIT.ok : EXIT.failed;
  });
}

async function namesOf({ client, namespace }: Cluster, given: readonly string[]): Promise<readonly string[]> {
  if (given.length > 0) return given;
  const { items } = await client.listAll(credentials, { namespace });
  if (items.length === 0) throw new CommandError(EXIT.missing, `namespace ${namespace} has no credentials`);
  return items.map(({ metadata }) => metadata.name);
}

type Checked = { credential: Credential; isAnswered: boolean };

/** Requests the check, and waits until the operator has handled it. */
async function checkOne({ client, namespace }: Cluster, name: string, until: number): Promise<Checked> {
  const ref = { namespace, name };
  const value = new Date().toISOString();
  const body = { metadata: { annotations: { [ANNOTATION.check]: value } } };
  let credential = await client.patch(credentials, ref, body, { type: 'merge' });
  while (credential.status?.check !== value && performance.now() < until) {
    await delay(POLL_MS);
    credential = await client.get(credentials, ref);
  }
  return { credential, isAnswered: credential.status?.check === value };
}

function rowOf({ credential, isAnswered }: Checked): string[] {
  const { name } = credential.metadata;
  if (!isAnswered)
    return [
      name,
      'Unknown',
      'NotChecked',
      'nobody has checked it in time: see windlass status for the operator',
    ];
  const ready = findCondition(credential.status?.conditions, 'Ready');
  return [name, ready?.status ?? 'Unknown', ready?.reason ?? '', ready?.message ?? ''];
}
