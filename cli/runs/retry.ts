/** `windlass retry`. */
import type { WorkflowRun } from '../../api/kinds.ts';
import { isTerminal } from '../../api/phase.ts';
import type { RunSpec } from '../../api/run.ts';
import { withCluster } from '../cluster/cluster.ts';
import { workflowRuns } from '../../operator/shared/resources.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import type { Terminal } from '../shared/terminal.ts';
import { phaseOf } from './show.ts';
import { printStarted } from './wait.ts';

type RetryOptions = {
  fromFailed?: boolean;
  assumeDone?: string[];
  assumeNotDone?: string[];
  wait?: boolean;
  output?: string;
};

/** Creates a run that repeats another one with its input, or continues it at its failed node. */
export async function execute(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const [name = ''] = invocation.values;
  const given = invocation.options as RetryOptions;
  return withCluster(invocation, async (cluster) => {
    const { client, namespace } = cluster;
    const spec = retrySpec(await client.get(workflowRuns, { namespace, name }), given);
    const metadata = { namespace, generateName: `${spec.workflow}-` };
    const run = await client.create(workflowRuns, { metadata, spec });
    return printStarted(cluster, run, { wait: given.wait === true, output: given.output }, terminal);
  });
}

/**
 * The spec of the new run. A retry of a test run is a test run.
 * @throws CommandError if the run cannot be repeated that way
 */
export function retrySpec(run: WorkflowRun, given: RetryOptions): RunSpec {
  const { metadata, spec } = run;
  const phase = phaseOf(run);
  if (!isTerminal(phase))
    throw new CommandError(EXIT.failed, `run ${metadata.name} has not ended: it is ${phase}`);
  const decisions = [
    ...(given.assumeDone ?? []).map((node) => ({ node, outcome: 'AssumeDone' as const })),
    ...(given.assumeNotDone ?? []).map((node) => ({ node, outcome: 'AssumeNotDone' as const })),
  ];
  const isResumed = given.fromFailed === true || decisions.length > 0;
  if (isResumed && phase !== 'Failed')
    throw new CommandError(
      EXIT.failed,
      `run ${metadata.name} is ${phase}: only a failed run continues from its failed node. Repeat it without --from-failed`,
    );
  if (isResumed) requireDecisions(run, new Set(decisions.map(({ node }) => node)));
  return {
    workflow: spec.workflow,
    retryOf: metadata.name,
    ...(spec.test === true && { test: true }),
    ...(isResumed && { resume: true }),
    ...(decisions.length > 0 && { decisions }),
  };
}

/** The user decides about each effect that may have happened. */
function requireDecisions({ metadata, status }: WorkflowRun, decided: ReadonlySet<string>): void {
  const open = (status?.nodes ?? []).filter(({ id, phase }) => phase === 'Unknown' && !decided.has(id));
  if (open.length === 0) return;
  const names = open.map(({ id }) => id).join(', ');
  throw new CommandError(
    EXIT.usage,
    `whether the effect of ${names} in run ${metadata.name} happened is unknown: say so with --assume-done NODE or --assume-not-done NODE`,
  );
}
