/** `windlass cancel`. */
import { isTerminal } from '../../api/phase.ts';
import { withCluster } from '../cluster/cluster.ts';
import { workflowRuns } from '../../operator/shared/resources.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import type { Terminal } from '../shared/terminal.ts';
import { endLine, phaseOf } from './show.ts';
import { waitForEnd } from './wait.ts';

/** Requests the cancellation of a run; with `--wait` fails unless it ends as cancelled. */
export async function execute(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const [name = ''] = invocation.values;
  return withCluster(invocation, async (cluster) => {
    const { client, namespace } = cluster;
    const ref = { namespace, name };
    const run = await client.get(workflowRuns, ref);
    if (phaseOf(run) === 'Cancelled') {
      terminal.print(`run ${name} is already cancelled`);
      return EXIT.ok;
    }
    if (isTerminal(phaseOf(run)))
      throw new CommandError(EXIT.failed, `run ${name} has ended: ${phaseOf(run)}`);
    await client.patch(workflowRuns, ref, { spec: { cancel: true } }, { type: 'merge' });
    if (invocation.options['wait'] !== true) {
      terminal.print(`run ${name} is being cancelled`);
      return EXIT.ok;
    }
    const ended = await waitForEnd(cluster, name, terminal);
    terminal.print(endLine(ended, terminal.paint).join('\n'));
    return phaseOf(ended) === 'Cancelled' ? EXIT.ok : EXIT.failed;
  });
}
