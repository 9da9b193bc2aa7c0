/** `npm run demo`: from a bare machine to a workflow that answers, with everything shown on the way. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chooseProvider, ensureCluster, type Cluster } from '../cluster/cluster.ts';
import { openGateway, tokenCommand } from '../support/installation/installedGateway.ts';
import { exampleFolder, installWindlass, uninstallWindlass } from '../support/installation/install.ts';
import { kubectl } from '../support/cluster/kubectl.ts';
import { createProgress, type Progress } from '../support/process/progress.ts';
import { showConnecting } from './connect.ts';
import { showConsole } from './console.ts';
import { exampleNamed, listOfExamples } from './examples.ts';
import { planOf, projectOf, requireOwnInstallation, requireOwnObjects } from './project.ts';
import { showReady } from './ready.ts';
import type { Demo } from './runs.ts';

const help = `usage: npm run demo [-- OPTIONS]

Starts a cluster (the first time it builds one: about five minutes), installs Windlass, applies
examples/order-confirmation, sends an order to its webhook and shows what happens. The cluster stays; again it
takes less than half a minute.

options
  --example NAME   shows another one of the examples (below)
  --down           removes the cluster and everything in it; from a cluster of your own what the demo made
  --name NAME      which cluster (default: windlass); several can run side by side
  --help           this text

examples
${listOfExamples()}

environment
  WINDLASS_CLUSTER   kind, builtin or current (the context of your kubeconfig); docs/cluster.md says more
`;

const logFile = join(import.meta.dirname, '../../.windlass/demo.log');
const tell = (line = '') => console.log(line);
const firstExample = 'order-confirmation';

async function runDemo(name: string, example: string, progress: Progress): Promise<void> {
  const { show, connects, s3 = false } = exampleNamed(example);
  await mkdir(join(logFile, '..'), { recursive: true });
  await rm(logFile, { force: true });
  const cluster = await ensureCluster({ name, progress });
  const project = projectOf(cluster);
  await requireOwnInstallation(cluster, project);
  if (cluster.provider === 'current') tell(planOf(project));
  await installWindlass(cluster, { progress, log: logFile, s3, project });
  const gateway = await openGateway(cluster);
  const demo = { cluster, gateway, project, tell };
  try {
    await progress.step(`apply examples/${example}`, () =>
      kubectl(cluster, ['apply', '-n', project, '-f', exampleFolder(example)]),
    );
    if (connects !== undefined) await showConnecting(demo, connects);
    await progress.step('wait until it is ready', (update) => showReady(demo, example, update));
    await show(demo);
    tell();
    const list = ['get', ...inProject(project), 'workflows.windlass.dev,workflowruns'];
    tell(`$ kubectl ${list.join(' ')}`);
    tell((await kubectl(cluster, list)).trimEnd());
    await showConsole(demo);
    if (example === firstExample) showWhatNext(demo);
    else showWhere(demo, example);
    showEnd(cluster);
  } finally {
    gateway.close();
  }
}

/** The option of kubectl that names the namespace, where it is not that of a cluster of ours without it. */
const inProject = (project: string): string[] => (project === 'default' ? [] : ['-n', project]);

function showWhatNext({ cluster, gateway, project }: Demo): void {
  const { publicURL, internalURL } = gateway;
  const url = `${publicURL}/webhook/${project}.order-confirmation/orders`;
  const kubectlHere = ['kubectl', ...inProject(project)].join(' ');
  tell(`
The cluster runs on. To go on without the browser, in this shell:

  ${environmentOf(cluster)}

  curl -i ${url} -H 'content-type: application/json' \\
    -d '{"number": "A-1002", "customer": {"name": "Grace", "email": "grace@example.com"}, "items": [{"name": "compass", "price": 12}]}'
  ${kubectlHere} get workflowruns                                   # what ran; with -o yaml what each node produced
  ${kubectlHere} apply -f examples/hello                            # a workflow that is started by hand
  curl -i ${internalURL}/workflows/${project}.hello/execute -H 'prefer: wait=30' \\
    -H "authorization: Bearer $(kubectl ${tokenCommand('caller', 'windlass').join(' ')})" --json '{"name": "Ada"}'
`);
}

function showWhere({ cluster, project }: Demo, example: string): void {
  const remove = ['kubectl', ...inProject(project), 'delete', '-f', `examples/${example}`].join(' ');
  tell(`
The cluster runs on. In this shell:

  ${environmentOf(cluster)}

What else to try with it, and how to put your own accounts in, is in examples/${example}/README.md; ${remove}
takes it away. The other examples:

${listOfExamples()}
`);
}

const environmentOf = ({ kubeconfigPath, binDir }: Cluster) =>
  `export KUBECONFIG=${kubeconfigPath} PATH=${binDir}:$PATH`;

function showEnd({ name }: Cluster): void {
  const named = name === 'windlass' ? '' : ` --name ${name}`;
  tell(`README.md has the first workflow of your own. To remove everything: npm run demo -- --down${named}`);
}

/** A cluster of ours goes with all that is in it; from another one only that is taken which we put in. */
async function down(name: string, progress: Progress): Promise<void> {
  const provider = await chooseProvider();
  if (provider.name === 'current') {
    const cluster = await provider.up({ name, progress });
    const project = projectOf(cluster);
    await requireOwnInstallation(cluster, project);
    await requireOwnObjects(cluster, project);
    await progress.step('remove Windlass and the demo from the cluster', () =>
      uninstallWindlass(cluster, project),
    );
  } else {
    await provider.down(name, progress);
  }
  await rm(logFile, { force: true });
  progress.say(
    '✓ removed. What was built for the next start stays in ~/.cache/windlass; Debian packages stay installed.',
  );
}

async function main(args: string[], progress: Progress): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      example: { type: 'string', default: firstExample },
      down: { type: 'boolean', default: false },
      name: { type: 'string', default: 'windlass' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) process.stdout.write(help);
  else if (values.down) await down(values.name, progress);
  else await runDemo(values.name, values.example, progress);
}

const progress = createProgress(process.stderr);
try {
  await main(process.argv.slice(2), progress);
} catch (error) {
  progress.say(`✗ ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
