/** `windlass diff`. */
import type { Workflow, WorkflowRun } from '../../api/kinds.ts';
import { revisionOf } from '../../api/revision.ts';
import { canonicalJson } from '../../kube/json.ts';
import { controllerRevisions } from '../../kube/resource.ts';
import { withCluster } from '../cluster/cluster.ts';
import { workflowRuns, workflows } from '../../operator/shared/resources.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import type { Terminal } from '../shared/terminal.ts';
import { diffLines, shownLines, type DiffLine } from './lines.ts';

const COLOURS = { '+': 'green', '-': 'red', ' ': 'dim' } as const;

/** Prints how the workflow has changed since the run. Fails if it has. */
export async function execute(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const [name = ''] = invocation.values;
  return withCluster(invocation, async ({ client, namespace }) => {
    const run = await client.get(workflowRuns, { namespace, name });
    const revision = revisionNameOf(run);
    const [executed, workflow] = await Promise.all([
      client.find(controllerRevisions, { namespace, name: revision }),
      client.get(workflows, { namespace, name: run.spec.workflow }),
    ]);
    if (!executed)
      throw new CommandError(EXIT.missing, `revision ${revision} of run ${name} no longer exists`);
    const lines = shownLines(diffLines(await yamlLines(executed.data), await todaysLines(workflow)));
    if (lines.length === 0) {
      terminal.tell(`run ${name} executed what workflow ${run.spec.workflow} is today`);
      return EXIT.ok;
    }
    terminal.print(`--- run ${name}, revision ${revision}\n+++ workflow ${run.spec.workflow} today`);
    for (const line of lines) terminal.print(diffText(line, terminal));
    return EXIT.failed;
  });
}

/** @throws CommandError if the run has not started */
function revisionNameOf({ metadata, spec, status }: WorkflowRun): string {
  const name = status?.revision ?? spec.revision;
  if (name !== undefined) return name;
  throw new CommandError(EXIT.failed, `run ${metadata.name} has not started, and so has no revision yet`);
}

/** As revisions are stored, where defaults are written out. */
function todaysLines({ spec }: Workflow): Promise<string[]> {
  return yamlLines(revisionOf(spec));
}

/** Equal values have equal lines, whatever the order of their members. */
async function yamlLines(value: unknown): Promise<string[]> {
  const { toYaml } = await import('../shared/yaml.ts');
  return toYaml(JSON.parse(canonicalJson(value))).split('\n');
}

function diffText({ sign, text }: DiffLine, { paint }: Terminal): string {
  return paint(COLOURS[sign], `${sign}${text}`);
}
