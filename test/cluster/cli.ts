/** `npm run cluster`: starts, shows and removes the cluster that the demo and the tests run on. */
import { parseArgs } from 'node:util';
import { createProgress, type Progress } from '../support/process/progress.ts';
import { chooseProvider, ensureCluster } from './cluster.ts';
import { nodeCount } from './nodeCount.ts';
import type { ClusterAccess } from './provider.ts';

const help = `usage: npm run cluster -- COMMAND [--name NAME]

commands
  up            starts the cluster; resumes it when it was stopped, mends it when a part has crashed
  down          removes the cluster and everything that was made for it
  status        shows each part of the cluster; ends with status 1 when one does not work
  env           prints what makes its kubectl and helm those of a shell: eval "$(npm run --silent cluster -- env)"
  kubeconfig    prints the path of the cluster's kubeconfig
  load-images   builds the images of Windlass, loads them into the cluster and prints their names and tags

options
  --name NAME   which cluster (default: windlass); several can run side by side
  --nodes N     up: how many nodes, from 1 to 9 (default: those that it has, and 1 for a new one); nodes can be added
                and not taken away
  --audit       up: have the API server write down who did what, from now on; --no-audit ends it
  --help        this text

environment
  WINDLASS_CLUSTER   kind, builtin or current (the context of your kubeconfig);
                     left out: kind where a Docker engine answers and kind is installed, else builtin
  GOGC               of the programs of the built-in cluster, as Go reads it: with 400 they take less processor time
                     and more memory; up starts those again that run with another one

docs/cluster.md says more.
`;

type Call = { name: string; audit: boolean | undefined; nodes: number | undefined; progress: Progress };

const commands: Record<string, (call: Call) => Promise<number>> = {
  up: async ({ name, audit, nodes, progress }) => {
    const cluster = await ensureCluster({ name, audit, nodes, progress });
    progress.say(`✓ cluster ${name} (${cluster.provider}) is ready`);
    progress.say(
      `  its kubectl and helm in this shell: eval "$(npm run --silent cluster -- env --name ${name})"`,
    );
    return 0;
  },
  down: async ({ name, progress }) => {
    await (await chooseProvider()).down(name, progress);
    return 0;
  },
  status: async ({ name, progress }) => {
    const parts = await (await chooseProvider()).status(name);
    if (!parts) return absent(name, progress);
    const width = Math.max(...parts.map(({ part }) => part.length));
    for (const { part, state, detail } of parts) {
      process.stdout.write(`${state === 'works' ? '✓' : '✗'} ${part.padEnd(width)}  ${state}  ${detail}\n`);
    }
    if (parts.every(({ state }) => state === 'works')) return 0;
    progress.say(`  npm run cluster -- up --name ${name}   starts again what does not work`);
    return 1;
  },
  kubeconfig: async ({ name, progress }) => {
    const access = await (await chooseProvider()).access(name, progress);
    if (!access) return absent(name, progress);
    process.stdout.write(`${access.kubeconfigPath}\n`);
    return 0;
  },
  env: async ({ name, progress }) => {
    const access = await (await chooseProvider()).access(name, progress);
    if (!access) return absent(name, progress);
    process.stdout.write(environment(access));
    return 0;
  },
  'load-images': async ({ name, progress }) => {
    const cluster = await ensureCluster({ name, progress });
    // Read only here, so that the other commands work without what builds images.
    const { buildAndLoadImages, splitReference } = await import('../../images/build.ts');
    const { windlass, redis } = await buildAndLoadImages(cluster, progress);
    const [repository, tag] = splitReference(windlass);
    progress.say(`✓ ${windlass} and ${redis} are in the cluster`);
    progress.say(
      `  for helm: --set image.repository=${repository} --set image.tag=${tag} --set redis.image=${redis}`,
    );
    return 0;
  },
};

function environment({ kubeconfigPath, binDir }: ClusterAccess): string {
  const quoted = (path: string) => `'${path.replaceAll("'", `'\\''`)}'`;
  return `export KUBECONFIG=${quoted(kubeconfigPath)}\nexport PATH=${quoted(binDir)}:"$PATH"\n`;
}

function absent(name: string, progress: Progress): number {
  progress.say(`✗ there is no cluster ${name}: npm run cluster -- up --name ${name}`);
  return 1;
}

async function main(args: string[], progress: Progress): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    allowNegative: true,
    options: {
      name: { type: 'string', default: 'windlass' },
      audit: { type: 'boolean' },
      nodes: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const command = positionals.length === 1 ? commands[positionals[0] ?? ''] : undefined;
  if (values.help || !command) {
    process.stdout.write(help);
    return values.help ? 0 : 2;
  }
  const nodes = nodeCount(values.nodes);
  if (nodes !== undefined && positionals[0] !== 'up') {
    throw new Error(`--nodes belongs to up: npm run cluster -- up --nodes ${nodes}`);
  }
  return command({ name: values.name, audit: values.audit, nodes, progress });
}

const progress = createProgress(process.stderr);
try {
  process.exitCode = await main(process.argv.slice(2), progress);
} catch (error) {
  progress.say(`✗ ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
