/** What one server of a Redis Cluster knows of all: which server has which slots. */
import { serverError } from './callErrors.ts';
import { parseSlots, type SlotRange } from './clusterSlots.ts';
import type { ServerCalls } from './replicas.ts';

/** `epoch` grows with each failover: of two views the one with the greater epoch is the newer one. */
export type ClusterView = { epoch: number; ranges: readonly SlotRange[] };

export type ClusterProblem =
  | 'no server answers'
  | 'servers belong to no cluster'
  | 'servers refuse the question'
  | 'cluster is down';

export type Asked = { view: ClusterView } | { problem: ClusterProblem };

/** Asks a server, which was reached by this host. Does not throw. */
export async function askServer({ command }: ServerCalls, host: string): Promise<Asked> {
  try {
    const [info, slots] = await Promise.all([command('cluster', 'info'), command('cluster', 'slots')]);
    return viewIn(String(info), slots, host);
  } catch (error) {
    return { problem: problemOf(serverError(error)) };
  }
}

/**
 * A server that is cut off from most others knows no failover: it does not count once it has noticed. Pure.
 */
function viewIn(info: string, slots: unknown, host: string): Asked {
  if (!/^cluster_state:ok/m.test(info)) return { problem: 'cluster is down' };
  const epoch = Number(/^cluster_current_epoch:(\d+)/m.exec(info)?.[1] ?? 0);
  return { view: { epoch, ranges: parseSlots(slots, host) } };
}

function problemOf(answer: string | undefined): ClusterProblem {
  if (answer === undefined) return 'no server answers';
  return /cluster support disabled/.test(answer)
    ? 'servers belong to no cluster'
    : 'servers refuse the question';
}
