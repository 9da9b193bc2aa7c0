/** `windlass run NAME`: starts a run on the cluster. */
import type { RunSpec } from '../../api/run.ts';
import { parseExact, splitExact } from '../../api/exact/exactNumber.ts';
import type { Workflow } from '../../api/kinds.ts';
import { withCluster } from '../cluster/cluster.ts';
import { workflowRuns, workflows } from '../../operator/shared/resources.ts';
import { triggerInput } from '../local/input.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import { readSource } from '../shared/sources.ts';
import type { Terminal } from '../shared/terminal.ts';
import { printStarted } from './wait.ts';

type StartOptions = { input?: string; test?: boolean; until?: string; wait?: boolean; output?: string };

/** Creates the WorkflowRun, and with `--wait` prints how it ends. */
export async function start(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const [name = '', ...more] = invocation.values;
  const given = invocation.options as StartOptions;
  if (more.length > 0)
    throw new CommandError(EXIT.usage, 'name one workflow of the cluster, or write --local to execute files');
  const source =
    given.input === undefined
      ? undefined
      : { file: given.input, text: await readSource(given.input, terminal) };
  return withCluster(invocation, async (cluster) => {
    const { client, namespace } = cluster;
    const workflow = await client.get(workflows, { namespace, name });
    const run = await client.create(workflowRuns, {
      metadata: { namespace, generateName: `${name}-` },
      spec: runSpecOf(workflow, given, source && triggerInput(workflow.spec, source)),
    });
    const output = given.output;
    return printStarted(cluster, run, { wait: given.wait === true, output }, terminal);
  });
}

/** `input`: the output of the trigger as JSON text. A run to a node is a test run. */
function runSpecOf(
  { metadata }: Workflow,
  { test, until }: StartOptions,
  input: string | undefined,
): RunSpec {
  return {
    workflow: metadata.name,
    ...((test === true || until !== undefined) && { test: true }),
    ...(until !== undefined && { until }),
    ...(input !== undefined && { input: recordedInput(input) }),
  };
}

function recordedInput(text: string): NonNullable<RunSpec['input']> {
  const { text_content, data_content } = parseExact(text) as { text_content: string; data_content: unknown };
  const { data, exact } = splitExact(data_content);
  return { text_content, data_content: data, ...(exact && { exact }) };
}
