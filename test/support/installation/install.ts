/**
 * Puts Windlass, the demo's servers and the examples into a cluster: the same way for the demo and for the
 * tests.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { buildAndLoadImages, splitReference, type ImageReferences } from '../../../images/build.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { countPods, describePods } from './diagnose.ts';
import { helm, kubectl, type ClusterAccess } from '../cluster/kubectl.ts';
import { stepFailure, type Progress } from '../process/progress.ts';

const root = join(import.meta.dirname, '../../..');

/** Where everything of Windlass itself is, and where the servers of the demo are. */
export const windlassNamespace = 'windlass-system';
export const demoNamespace = 'windlass-demo';
const release = 'windlass';
/** On the namespaces that the demo made. */
export const DEMO_LABEL = 'windlass.dev/demo';
/** The names of the custom resource definitions. */
export const WINDLASS_KINDS = [
  'workflows',
  'workflowruns',
  'credentials',
  'webhookroutes',
  'projectsettings',
  'evaluations',
  'workflowdrafts',
].map((kind) => `${kind}.windlass.dev`);
/**
 * The servers of the demo, and those that tests start beside them, are in the cluster, where steps may not
 * connect to without being told so.
 */
export const demoHosts = [
  `model.${demoNamespace}.svc:8080`,
  `mail.${demoNamespace}.svc:2525`,
  `mail.${demoNamespace}.svc:8025`,
  `imap.${demoNamespace}.svc:1143`,
  `oauth.${demoNamespace}.svc:3000`,
  `telegram.${demoNamespace}.svc:8081`,
  `slack.${demoNamespace}.svc:3001`,
  `google.${demoNamespace}.svc:3000`,
  `google.${demoNamespace}.svc:8081`,
  `s3.${demoNamespace}.svc:7070`,
];

export type InstallOptions = {
  progress: Progress;
  /** A file that gets what helm and kubectl write. */
  log: string;
  /** Values of the chart beside those that the cluster needs. */
  values?: Record<string, unknown>;
  /** The namespace of the examples, which is made unless it is `default`; left out: `default`. */
  project?: string;
  /** True: also an S3 server, which takes Go and a minute to build for the first time. */
  s3?: boolean;
};

/**
 * The ports of the node at which the two Services of the gateway answer, on a cluster that has such ports.
 */
export function gatewayPorts(
  cluster: Pick<Cluster, 'nodePortRange'>,
): { public: number; internal: number } | undefined {
  const [first] = cluster.nodePortRange ?? [];
  return first === undefined ? undefined : { public: first, internal: first + 1 };
}

/** Where browsers and webhooks reach the gateway on such a cluster. */
function publicURL(cluster: Cluster): string | undefined {
  const ports = gatewayPorts(cluster);
  return ports && `http://127.0.0.1:${ports.public}`;
}

/**
 * Builds the images, installs or upgrades the chart and starts the demo's servers; returns when all pods are
 * ready.
 */
export async function installWindlass(cluster: Cluster, options: InstallOptions): Promise<void> {
  const { progress, s3 = false } = options;
  const images = await buildAndLoadImages(cluster, progress, { s3 });
  await progress.step('install the chart and the demo servers', async (update) => {
    const showing = setInterval(() => {
      countPods(cluster, [windlassNamespace, demoNamespace]).then(update, () => {});
    }, 1_000);
    try {
      await Promise.all([installChart(cluster, images, options), startDemoServers(cluster, images, options)]);
    } finally {
      clearInterval(showing);
    }
  });
}

async function installChart(
  cluster: Cluster,
  images: ImageReferences,
  options: InstallOptions,
): Promise<void> {
  const { log, values } = options;
  await applyManifest(cluster, stringify(namespaceOf(windlassNamespace)));
  const files = ['--values', '-', '--wait', '--timeout', '2m', '--history-max', '3'];
  const input = JSON.stringify(merge(valuesFor(cluster, images), values ?? {}));
  const install = helm(
    cluster,
    ['upgrade', '--install', release, join(root, 'charts/windlass'), '-n', windlassNamespace, ...files],
    {
      input,
      log,
      timeoutMs: 240_000,
    },
  );
  await explained(install, 'the chart could not be installed', cluster, windlassNamespace, log);
}

/**
 * Changes values of what is installed, and its chart where another one is given; returns when all of its pods
 * are ready, unless it is not to `wait`. Runners follow later.
 */
export async function upgradeWindlass(
  cluster: ClusterAccess,
  values: Record<string, unknown>,
  { chart = join(root, 'charts/windlass'), wait = true }: { chart?: string; wait?: boolean } = {},
): Promise<void> {
  const waiting = wait ? ['--wait', '--timeout', '2m'] : [];
  const files = ['--reuse-values', '--values', '-', ...waiting];
  await helm(cluster, ['upgrade', release, chart, '-n', windlassNamespace, ...files], {
    input: JSON.stringify(values),
    timeoutMs: 150_000,
  });
}

async function startDemoServers(
  cluster: Cluster,
  images: ImageReferences,
  { log, project = 'default' }: InstallOptions,
): Promise<void> {
  const read = (name: string) => readFile(join(import.meta.dirname, 'manifests', name), 'utf8');
  const manifest = [await read('demo-servers.yaml'), ...(images.s3 ? [await read('s3-server.yaml')] : [])];
  if (project !== 'default') await applyManifest(cluster, stringify(namespaceOf(project)));
  const named = manifest
    .join('\n---\n')
    .replaceAll('PROJECT_NAMESPACE', project)
    .replaceAll('DEMO_IMAGE', images['windlass-demo'])
    .replaceAll('DOVECOT_IMAGE', images.dovecot)
    .replaceAll('S3_IMAGE', images.s3 ?? '')
    .replaceAll('CALLBACK_URL', `${publicURL(cluster) ?? 'http://127.0.0.1'}/oauth/callback`);
  await applyManifest(cluster, named);
  const servers = ['model', 'mail', 'imap', 'telegram', 'google', ...(images.s3 ? ['s3'] : [])];
  const ready = servers.map((deployment) =>
    kubectl(
      cluster,
      ['rollout', 'status', '-n', demoNamespace, `deployment/${deployment}`, '--timeout=120s'],
      {
        log,
        timeoutMs: 130_000,
      },
    ),
  );
  await explained(Promise.all(ready), 'the demo servers do not start', cluster, demoNamespace, log);
}

/** A failure of the work with what the pods of the namespace say. */
async function explained(
  work: Promise<unknown>,
  what: string,
  cluster: Cluster,
  namespace: string,
  log: string,
) {
  try {
    await work;
  } catch (cause) {
    const pods = await describePods(cluster, namespace).catch(() => '');
    const remedy = `see what the pods say, mend it and run this again; kubectl -n ${namespace} describe pods shows more`;
    throw stepFailure(`${what}\n${pods}`, { cause, log, remedy });
  }
}

/** Prices of the models that the examples name, made up, so that they show costs. */
const demoPrices = [
  { model: 'gpt-4o-mini', input: '4.00', output: '16.00' },
  { model: 'gpt-4.1-nano', input: '1.00', output: '4.00' },
].map((price) => ({
  ...price,
  provider: 'openai',
  source: 'https://models.example/prices',
  date: '2026-11-25',
}));

/**
 * What the chart must be told about this cluster: where the images are, and at which ports the gateway
 * answers.
 */
function valuesFor(cluster: Cluster, images: ImageReferences): Record<string, unknown> {
  const [repository, tag] = splitReference(images.windlass);
  const ports = gatewayPorts(cluster);
  const service = (nodePort: number) => ({ service: { type: 'NodePort', nodePort } });
  return {
    image: { repository, tag },
    redis: { image: images.redis },
    runner: { egress: { allow: demoHosts } },
    prices: { models: demoPrices },
    ...(ports && {
      gateway: {
        public: { url: publicURL(cluster), ...service(ports.public) },
        internal: service(ports.internal),
      },
    }),
  };
}

const isTree = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first tree with the second laid over it, as helm merges values. */
function merge(base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isTree(below) && isTree(value) ? merge(below, value) : value;
  }
  return merged;
}

const namespaceOf = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': 'restricted', [DEMO_LABEL]: 'true' } },
});

/** Applies a manifest, server-side. */
export async function applyManifest(cluster: ClusterAccess, manifest: string): Promise<void> {
  await kubectl(cluster, ['apply', '--server-side', '--force-conflicts', '-f', '-'], { input: manifest });
}

/** The folder of an example, which `kubectl apply -f` takes. */
export const exampleFolder = (name: string) => join(root, 'examples', name);

/**
 * Applies an example and waits until its workflow, which has the same name, is ready. Throws with what it
 * says of itself.
 */
export async function applyExample(
  cluster: ClusterAccess,
  name: string,
  namespace = 'default',
): Promise<void> {
  await kubectl(cluster, ['apply', '-n', namespace, '-f', exampleFolder(name)]);
  await waitForReady(cluster, name, namespace);
}

/**
 * Waits until the workflow says that it is ready; after a minute and a half, since accounts are polled each
 * minute, throws with its conditions.
 */
export async function waitForReady(
  cluster: ClusterAccess,
  workflow: string,
  namespace = 'default',
): Promise<void> {
  const object = ['-n', namespace, `workflows.windlass.dev/${workflow}`];
  try {
    await kubectl(cluster, ['wait', ...object, '--for=condition=Ready', '--timeout=90s'], {
      timeoutMs: 100_000,
    });
  } catch (cause) {
    const template = '{range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\\n"}{end}';
    const conditions = await kubectl(cluster, ['get', ...object, '-o', `jsonpath=${template}`]).catch(
      () => '',
    );
    const remedy = `read the conditions; kubectl -n ${windlassNamespace} logs deployment/windlass-operator says more`;
    throw stepFailure(`workflow ${workflow} does not become ready\n${conditions}`, { cause, remedy });
  }
}

/**
 * Takes out of the cluster what `installWindlass` and the demo put in, the kinds of Windlass with all their
 * objects included.
 */
export async function uninstallWindlass(cluster: Cluster, project = 'default'): Promise<void> {
  const gone = (args: string[]) =>
    kubectl(cluster, ['delete', '--ignore-not-found', ...args], { timeoutMs: 180_000 });
  const known = await kubectl(cluster, ['get', 'crd', '--ignore-not-found', '-o', 'name', ...WINDLASS_KINDS]);
  // While the operator is there, so that it undoes what it made; kubectl fails where it does not know the
  // kinds.
  for (const example of known === '' ? [] : await readdir(join(root, 'examples'))) {
    await gone(['-n', project, '-f', exampleFolder(example)]);
  }
  const bindings = ['caller', 'editor', 'you'].map((account) => `windlass-demo-${account}`);
  await gone(['-n', project, 'rolebinding', ...bindings]);
  await gone(['crd', ...WINDLASS_KINDS]);
  await helm(cluster, ['uninstall', release, '-n', windlassNamespace, '--ignore-not-found', '--wait'], {
    timeoutMs: 180_000,
  });
  // The labels of these namespaces say what is ours: they go last.
  await gone(['namespace', ...(project === 'default' ? [] : [project]), demoNamespace, windlassNamespace]);
}
