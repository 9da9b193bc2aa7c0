/** `windlass get`. */
import { withCluster } from '../cluster/cluster.ts';
import { nameOf } from '../cluster/objectName.ts';
import { workflowRuns } from '../../operator/shared/resources.ts';
import type { Invocation } from '../shared/command.ts';
import { EXIT, type ExitCode } from '../shared/exit.ts';
import { formatResult } from '../shared/output.ts';
import type { Terminal } from '../shared/terminal.ts';
import { runLines } from './show.ts';

/** Prints the record of a run with the outputs of its nodes. */
export async function execute(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const [name = ''] = invocation.values;
  return withCluster(invocation, async ({ client, namespace }) => {
    const run = await client.get(workflowRuns, { namespace, name });
    const text = await formatResult(invocation.options['output'], run, nameOf(run));
    terminal.print(text ?? runLines(run, terminal.paint, Date.now()).join('\n'));
    return EXIT.ok;
  });
}
