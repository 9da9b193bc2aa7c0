/** `windlass status`. */
import { withCluster } from '../cluster/cluster.ts';
import type { ProjectSettings } from '../../api/kinds.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isForbidden } from '../../kube/errors.ts';
import { credentials, projectSettings, workflowRuns, workflows } from '../../operator/shared/resources.ts';
import type { Invocation } from '../shared/command.ts';
import { EXIT, type ExitCode } from '../shared/exit.ts';
import { formatResult } from '../shared/output.ts';
import type { Terminal } from '../shared/terminal.ts';
import { printable } from '../shared/text.ts';
import { statusFindings, type StatusFinding } from './findings.ts';

type StatusOptions = { allNamespaces?: boolean; output?: string };

/** Prints what is unhealthy in the project. Fails if something is in error. */
export async function execute(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const { allNamespaces, output } = invocation.options as StatusOptions;
  return withCluster(invocation, async ({ client, namespace }) => {
    const where = allNamespaces === true ? {} : { namespace };
    const [ofWorkflows, settings, ofCredentials, ofRuns] = await Promise.all([
      client.listAll(workflows, where),
      listSettings(client, where),
      client.listAll(credentials, where),
      client.listAll(workflowRuns, where),
    ]);
    const findings = statusFindings({
      workflows: ofWorkflows.items,
      settings,
      credentials: ofCredentials.items,
      runs: ofRuns.items,
      now: Date.now(),
    });
    const names = findings.map(({ object }) => object).join('\n');
    const text = await formatResult(output, { findings }, names);
    if (text !== undefined) terminal.print(text);
    else for (const finding of findings) terminal.print(findingText(finding, terminal.paint));
    if (output === undefined) {
      const counted = `${amount(ofWorkflows.items.length, 'workflow')}, ${amount(ofCredentials.items.length, 'credential')}`;
      const place = allNamespaces === true ? 'all namespaces' : `namespace ${namespace}`;
      const verdict = findings.length === 0 ? 'healthy' : `unhealthy: ${amount(findings.length, 'finding')}`;
      terminal.tell(`${verdict}; checked ${counted} in ${place}`);
    }
    return findings.some(({ severity }) => severity === 'error') ? EXIT.failed : EXIT.ok;
  });
}

/** None for users who may not read them: authors of workflows need not. */
async function listSettings(
  client: Pick<KubeClient, 'listAll'>,
  where: { namespace?: string },
): Promise<readonly ProjectSettings[]> {
  try {
    return (await client.listAll(projectSettings, where)).items;
  } catch (error) {
    if (isForbidden(error)) return [];
    throw error;
  }
}

function findingText(
  { severity, namespace, object, reason, message, command }: StatusFinding,
  paint: Terminal['paint'],
): string {
  const title = paint(severity === 'error' ? 'red' : 'yellow', severity);
  return `${title}: ${paint('bold', `${namespace}/${object}`)}: ${reason}: ${printable(message)}\n  ${command}`;
}

function amount(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}
