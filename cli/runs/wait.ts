/** Waits for a run on the cluster, and shows what happens to its nodes. */
import type { WorkflowRun } from '../../api/kinds.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { nameOf } from '../cluster/objectName.ts';
import { EXIT, type ExitCode } from '../shared/exit.ts';
import { formatResult } from '../shared/output.ts';
import type { Terminal } from '../shared/terminal.ts';
import { followRun } from './follow.ts';
import { nodeLine, runLines } from './show.ts';

/** Prints a line for each node whose phase changes, and gives the last state of the run. */
export async function waitForEnd(cluster: Cluster, name: string, terminal: Terminal): Promise<WorkflowRun> {
  const shown = new Map<string, string>();
  let last: WorkflowRun | undefined;
  for await (const run of followRun(cluster, name)) {
    last = run;
    for (const node of run.status?.nodes ?? []) {
      if (shown.get(node.id) === node.phase) continue;
      shown.set(node.id, node.phase);
      const line = nodeLine(node, terminal.paint, 'stderr');
      if (line !== undefined) terminal.tell(line);
    }
  }
  if (!last) throw new Error('the run has no record');
  return last;
}

/** Prints a run that has ended. Fails unless it succeeded. */
export async function printEnded(run: WorkflowRun, format: unknown, terminal: Terminal): Promise<ExitCode> {
  const text = await formatResult(format, run, nameOf(run));
  terminal.print(text ?? runLines(run, terminal.paint, Date.now()).join('\n'));
  return run.status?.phase === 'Succeeded' ? EXIT.ok : EXIT.failed;
}

/** Prints a run that was started, or its end with `wait`. */
export async function printStarted(
  cluster: Cluster,
  run: WorkflowRun,
  { wait, output }: { wait: boolean; output: unknown },
  terminal: Terminal,
): Promise<ExitCode> {
  const { name } = run.metadata;
  if (wait) {
    terminal.tell(`run ${name} started`);
    return printEnded(await waitForEnd(cluster, name, terminal), output, terminal);
  }
  terminal.print((await formatResult(output, run, nameOf(run))) ?? `run ${name} started`);
  if (output === undefined) terminal.tell(`Follow it with: windlass logs ${name} -n ${cluster.namespace} -f`);
  return EXIT.ok;
}
