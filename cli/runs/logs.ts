/** `windlass logs`. */
import type { WorkflowRun } from '../../api/kinds.ts';
import { isTerminal } from '../../api/phase.ts';
import { ApiError } from '../../kube/errors.ts';
import { withCluster, type Cluster } from '../cluster/cluster.ts';
import { workflowRuns } from '../../operator/shared/resources.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import type { Terminal } from '../shared/terminal.ts';
import { createEventWriter, recordText } from './eventText.ts';
import { liveEvents } from './liveEvents.ts';
import { printEnded, waitForEnd } from './wait.ts';

type LogOptions = { follow?: boolean; systemNamespace: string };

/** Prints what happened in a run; with `--follow` until it has ended, and then fails unless it succeeded. */
export async function execute(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const [name = ''] = invocation.values;
  const { follow, systemNamespace } = invocation.options as LogOptions;
  return withCluster(invocation, async (cluster) => {
    const run = await cluster.client.get(workflowRuns, { namespace: cluster.namespace, name });
    if (follow === true && !isTerminal(run.status?.phase))
      return followLive(cluster, { run, systemNamespace }, terminal);
    terminal.print(recordText(run, terminal.paint).join('\n'));
    return follow !== true || run.status?.phase === 'Succeeded' ? EXIT.ok : EXIT.failed;
  });
}

type Followed = { run: WorkflowRun; systemNamespace: string };

async function followLive(
  cluster: Cluster,
  { run, systemNamespace }: Followed,
  terminal: Terminal,
): Promise<ExitCode> {
  const { name } = run.metadata;
  const writer = createEventWriter(terminal.paint);
  const followed = { workflow: run.spec.workflow, run: name, systemNamespace };
  let phase: string | undefined;
  try {
    // A gateway that restarts ends its streams.
    for (let after: string | undefined, isNew = true; isNew && !isTerminal(phase); ) {
      isNew = false;
      for await (const event of liveEvents(cluster, { ...followed, after })) {
        terminal.write(writer.write(event));
        if (event.type === 'run') ({ phase } = event);
        [after, isNew] = [event.id, true];
      }
    }
  } catch (error) {
    if (!(error instanceof CommandError) && !(error instanceof ApiError)) throw error;
    terminal.tell(`live events are not available: ${error.message}. The record is followed instead.`);
  } finally {
    terminal.write(writer.end());
  }
  if (isTerminal(phase)) return phase === 'Succeeded' ? EXIT.ok : EXIT.failed;
  return printEnded(await waitForEnd(cluster, name, terminal), undefined, terminal);
}
