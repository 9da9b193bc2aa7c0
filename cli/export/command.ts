/** `windlass export`. */
import type { Credential, Workflow } from '../../api/kinds.ts';
import { withCluster, type Cluster } from '../cluster/cluster.ts';
import { nameOf } from '../cluster/objectName.ts';
import { credentials, workflows } from '../../operator/shared/resources.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import type { Terminal } from '../shared/terminal.ts';
import { credentialsOf, manifestOf, secretsOf } from './manifest.ts';

/** Prints workflows and the credentials that they name as manifests. Secrets are named, and not printed. */
export async function execute(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  return withCluster(invocation, async (cluster) => {
    const { found, missing } = await exported(cluster, invocation.values);
    const manifests = [...found.credentials, ...found.workflows].map(manifestOf);
    terminal.print(await formatted(invocation.options['output'], manifests));
    for (const name of missing)
      terminal.tell(`credential ${name}, which a workflow names, does not exist in the cluster`);
    for (const [name, keys] of secretsOf(found.credentials))
      terminal.tell(`not exported: Secret ${name} with ${[...keys].join(', ')}`);
    return EXIT.ok;
  });
}

type Exported = { workflows: readonly Workflow[]; credentials: readonly Credential[] };

/** The named workflows, or all, with their credentials; of all workflows, all credentials. */
async function exported(
  { client, namespace }: Cluster,
  names: readonly string[],
): Promise<{ found: Exported; missing: string[] }> {
  const [all, accounts] = await Promise.all([
    client.listAll(workflows, { namespace }),
    client.listAll(credentials, { namespace }),
  ]);
  const chosen = names.length === 0 ? all.items : names.map((name) => named(all.items, name, namespace));
  const needed = new Set(chosen.flatMap(credentialsOf));
  const used = accounts.items.filter(({ metadata }) => names.length === 0 || needed.has(metadata.name));
  const there = new Set(used.map(({ metadata }) => metadata.name));
  const missing = [...needed].filter((name) => !there.has(name));
  if (chosen.length + used.length === 0)
    throw new CommandError(EXIT.missing, `namespace ${namespace} has no workflows and no credentials`);
  return { found: { workflows: chosen, credentials: used }, missing };
}

function named(items: readonly Workflow[], name: string, namespace: string): Workflow {
  const found = items.find(({ metadata }) => metadata.name === name);
  if (found) return found;
  throw new CommandError(EXIT.missing, `namespace ${namespace} has no workflow ${name}`);
}

/** YAML, one document for each object, as kubectl applies it; or a list in JSON; or names. */
async function formatted(format: unknown, manifests: readonly object[]): Promise<string> {
  if (format === 'json') return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }, null, 2);
  if (format === 'name') return manifests.map((each) => nameOf(each as Workflow)).join('\n');
  const { toYaml } = await import('../shared/yaml.ts');
  return manifests.map(toYaml).join('\n---\n');
}
