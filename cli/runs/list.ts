/** `windlass runs`. */
import type { WorkflowRun } from '../../api/kinds.ts';
import { withCluster } from '../cluster/cluster.ts';
import { nameOf } from '../cluster/objectName.ts';
import { workflowRuns } from '../../operator/shared/resources.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import { formatResult } from '../shared/output.ts';
import type { Terminal } from '../shared/terminal.ts';
import { runTable } from './show.ts';

type ListOptions = { phase?: string; limit: string; output?: string };

/** Prints the newest recorded runs of the project, or of one workflow. */
export async function execute(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const [workflow] = invocation.values;
  const { phase, limit, output } = invocation.options as ListOptions;
  if (!/^[1-9]\d{0,5}$/.test(limit))
    throw new CommandError(EXIT.usage, `--limit ${limit}: write a number of runs, such as 20`);
  return withCluster(invocation, async ({ client, namespace }) => {
    const selectors = [
      ...(workflow === undefined ? [] : [`spec.workflow=${workflow}`]),
      ...(phase === undefined ? [] : [`status.phase=${phase}`]),
    ];
    const fieldSelector = selectors.join(',');
    const { items } = await client.listAll(workflowRuns, {
      namespace,
      ...(fieldSelector !== '' && { fieldSelector }),
    });
    const runs = newestFirst(items).slice(0, Number(limit));
    const list = { apiVersion: 'v1', kind: 'List', items: runs };
    const text = await formatResult(output, list, runs.map(nameOf).join('\n'));
    if (text !== undefined) terminal.print(text);
    else if (runs.length === 0) terminal.tell(`there are no recorded runs in namespace ${namespace}`);
    else terminal.print(runTable(runs, Date.now()).join('\n'));
    return EXIT.ok;
  });
}

/** By the time of acceptance, which is exact to the millisecond. */
function newestFirst(runs: readonly WorkflowRun[]): WorkflowRun[] {
  const timeOf = ({ metadata, status }: WorkflowRun): number =>
    Date.parse(status?.acceptedTime ?? metadata.creationTimestamp ?? '');
  return runs.toSorted((one, other) => timeOf(other) - timeOf(one));
}
