/** What the shows of the demo tell of a run, from its record in the cluster. */
import { joinExact } from '../../api/exact/exactNumber.ts';
import type { RunStatus } from '../../api/run.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Gateway } from '../support/installation/installedGateway.ts';
import { getJson } from '../support/cluster/kubectl.ts';
import { pollUntil } from '../support/time/poll.ts';

export type Tell = (line?: string) => void;

/** Where an example is shown: Windlass is installed, and the example applied and ready. */
export type Demo = {
  cluster: Cluster;
  gateway: Gateway;
  /** The namespace of the example. */
  project: string;
  tell: Tell;
};

type Run = { metadata: { name: string }; status?: RunStatus };

/** The width of what is shown of an output. */
const WIDTH = 160;

/** The names of the runs of a workflow that are recorded. */
export async function runNames(
  demo: Pick<Demo, 'cluster' | 'project'>,
  workflow: string,
): Promise<Set<string>> {
  return new Set((await runsOf(demo, workflow)).map((run) => run.metadata.name));
}

/** The runs of a workflow that are recorded. */
export async function runsOf(
  { cluster, project }: Pick<Demo, 'cluster' | 'project'>,
  workflow: string,
): Promise<Run[]> {
  const ofWorkflow = ['-n', project, '--field-selector', `spec.workflow=${workflow}`];
  return (await getJson<{ items: Run[] }>(cluster, 'workflowruns', ...ofWorkflow)).items;
}

/** A run that has ended. */
export type EndedRun = { name: string; status: RunStatus };

/** The first run of the workflow that has ended and fits, once there is one. */
export function endedRun(
  demo: Pick<Demo, 'cluster' | 'project'>,
  workflow: string,
  { fits, timeoutMs }: { fits: (run: EndedRun) => boolean; timeoutMs: number },
): Promise<EndedRun> {
  return pollUntil(
    `a run of ${workflow} that has ended`,
    async () =>
      (await runsOf(demo, workflow))
        .flatMap(({ metadata: { name }, status }) => (status?.completionTime ? [{ name, status }] : []))
        .find(fits),
    { timeoutMs, everyMs: 500 },
  );
}

/**
 * Waits until a run that was not there `before` has ended, and tells what each node produced. Throws when it
 * did not succeed. Answers its name.
 */
export async function showRun(
  demo: Demo,
  workflow: string,
  { before, timeoutMs }: { before: Set<string>; timeoutMs: number },
): Promise<string> {
  const { name, status } = await endedRun(demo, workflow, {
    fits: (run) => !before.has(run.name),
    timeoutMs,
  });
  const { tell } = demo;
  tell();
  tell(`run ${name}: ${status.phase} after ${status.duration}`);
  for (const { id, phase, output } of status.nodes ?? []) {
    const { text_content: text, data_content, exact } = output ?? {};
    const data = joinExact(data_content, exact);
    const parts = [...(text ? [JSON.stringify(text)] : []), ...(data ? [JSON.stringify(data)] : [])];
    tell(`  ${id}: ${phase}`);
    for (const part of parts) tell(`    ${part.length > WIDTH ? `${part.slice(0, WIDTH)}…` : part}`);
  }
  if (status.phase !== 'Succeeded') throw new Error(`the run should have succeeded`);
  return name;
}
