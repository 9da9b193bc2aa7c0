/** `windlass doctor`. */
import { writeFile } from 'node:fs/promises';
import packageFile from '../../package.json' with { type: 'json' };
import { GROUP, VERSION } from '../../api/group.ts';
import type { Workflow } from '../../api/kinds.ts';
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import {
  deployments,
  namespacedResource,
  pods,
  type Deployment,
  type KubeObject,
  type Resource,
} from '../../kube/resource.ts';
import { withCluster, type Cluster } from '../cluster/cluster.ts';
import { credentials, workflowRuns, workflows } from '../../operator/shared/resources.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import { formatResult } from '../shared/output.ts';
import type { Terminal } from '../shared/terminal.ts';
import { supportBundle } from './bundle.ts';
import { ok, type Check } from './check.ts';
import { readDurability } from './durability.ts';
import {
  judgeDefinitions,
  judgeDurability,
  judgePrograms,
  judgeRights,
  judgeVersions,
  judgeWebhooks,
  type PublicAnswer,
} from './judge.ts';
import { readRights } from './rights.ts';

type DoctorOptions = { bundle?: string; systemNamespace: string; output?: string };

const statefulSets = namespacedResource<Deployment>('apps', 'v1', 'StatefulSet', 'statefulsets');
const RELEASE = 'app.kubernetes.io/name=windlass';
const ANSWER_MS = 5_000;

/** Prints the state of the installation, and writes the bundle. Fails if something is in error. */
export async function execute(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const given = invocation.options as DoctorOptions;
  return withCluster(invocation, async (cluster) => {
    const { checks, bundle } = await examine(cluster, given.systemNamespace);
    if (given.bundle !== undefined) await writeBundle(given.bundle, bundle);
    const names = checks.filter(({ result }) => result !== 'ok').map(({ name }) => name);
    const text = await formatResult(given.output, { checks }, names.join('\n'));
    terminal.print(text ?? checks.map((check) => checkText(check, terminal.paint)).join('\n'));
    if (given.bundle !== undefined) terminal.tell(`wrote ${given.bundle}`);
    return checks.some(({ result }) => result === 'error') ? EXIT.failed : EXIT.ok;
  });
}

async function examine(
  cluster: Cluster,
  systemNamespace: string,
): Promise<{ checks: Check[]; bundle: object }> {
  const { client, namespace } = cluster;
  const { gitVersion } = (await client.raw('GET', '/version')) as { gitVersion: string };
  const served = await servedKinds(cluster);
  const rights = await readRights(cluster, systemNamespace);
  const ofRelease = { namespace: systemNamespace, labelSelector: RELEASE };
  const listed = [
    await listIfAllowed(cluster, deployments, ofRelease),
    await listIfAllowed(cluster, statefulSets, ofRelease),
  ];
  const programs = listed.flatMap((each) => each ?? []);
  const isUnknown = programs.length === 0 && listed.includes(undefined);
  const ownPods = await readable(cluster, pods, ofRelease);
  const ofProject = served === undefined ? [] : await readable(cluster, workflows, { namespace });
  const checks = [
    ok('api-server', `${cluster.connection.server} is Kubernetes ${gitVersion}`),
    judgeDefinitions(served),
    judgeRights(rights),
    ...judgePrograms(isUnknown ? undefined : programs, systemNamespace),
    ...judgeVersions(programs, systemNamespace),
    ...(programs.length === 0
      ? []
      : [judgeDurability(await readDurability(cluster, ownPods), systemNamespace)]),
    judgeWebhooks(await askPublicly(ofProject), systemNamespace),
  ];
  const bundle = supportBundle({
    versions: { windlass: packageFile.version, kubernetes: gitVersion, node: process.version },
    checks,
    programs,
    pods: ownPods,
    workflows: ofProject,
    credentials: served === undefined ? [] : await readable(cluster, credentials, { namespace }),
    runs: served === undefined ? [] : await readable(cluster, workflowRuns, { namespace }),
  });
  return { checks, bundle };
}

/** The plurals of our group; undefined if the cluster does not have it. */
async function servedKinds({ client }: Cluster): Promise<string[] | undefined> {
  try {
    const { resources } = (await client.raw('GET', `/apis/${GROUP}/${VERSION}`)) as {
      resources: { name: string }[];
    };
    return resources.map(({ name }) => name);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

type Where = { namespace: string; labelSelector?: string };

/** What the user may list; a missing right is a check of its own. */
async function readable<T extends KubeObject>(
  cluster: Cluster,
  resource: Resource<T>,
  where: Where,
): Promise<T[]> {
  return (await listIfAllowed(cluster, resource, where)) ?? [];
}

/** Undefined: the user may not list them. */
async function listIfAllowed<T extends KubeObject>(
  { client }: Cluster,
  resource: Resource<T>,
  where: Where,
): Promise<T[] | undefined> {
  try {
    return (await client.listAll(resource, where)).items;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** Asks for a webhook that does not exist, so that no workflow runs. */
async function askPublicly(items: readonly Workflow[]): Promise<PublicAnswer | undefined> {
  const url = items.map(({ status }) => status?.url).find((each) => each !== undefined && URL.canParse(each));
  if (url === undefined) return undefined;
  const { origin } = new URL(url);
  try {
    const answer = await fetch(`${origin}/webhook/windlass.doctor/none`, {
      signal: AbortSignal.timeout(ANSWER_MS),
      redirect: 'manual',
    });
    await answer.body?.cancel();
    return { origin, status: answer.status, type: answer.headers.get('content-type') ?? '' };
  } catch (error) {
    const { cause, message } = error as Error;
    const problem = cause instanceof Error ? cause.message : message;
    return { origin, problem };
  }
}

async function writeBundle(file: string, bundle: object): Promise<void> {
  try {
    await writeFile(file, `${JSON.stringify(bundle, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new CommandError(EXIT.input, `cannot write ${file}: ${code}`, { cause: error });
  }
}

const MARK = { ok: ['✓', 'green'], warning: ['!', 'yellow'], error: ['✗', 'red'] } as const;

function checkText({ name, result, message, command }: Check, paint: Terminal['paint']): string {
  const [mark, colour] = MARK[result];
  const line = `${paint(colour, mark)} ${name}: ${message}`;
  return command === undefined ? line : `${line}\n  ${command}`;
}
