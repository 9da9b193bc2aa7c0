/**
 * Builds the images and loads them into a cluster. A tag is a hash of all that the image is made of, so that
 * an image which the cluster has is neither built nor loaded again.
 */
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from '../test/cluster/cluster.ts';
import { readClusterConfig } from '../test/cluster/config.ts';
import { ensurePackages } from '../test/cluster/packages.ts';
import { getJson } from '../test/support/cluster/kubectl.ts';
import type { Progress, Update } from '../test/support/process/progress.ts';
import { ensureS3Program } from '../test/support/providers/s3/s3Program.ts';
import { bundledPrograms, type ProgramImage } from './bundle.ts';
import { buildahEngine, containerfile, dockerEngine, isDockerUsable, type Engine } from './engine.ts';
import { hashFiles, layOut, type ImageFile } from './files.ts';
import { dovecotFiles, nodeFiles, redisFiles } from './rootfs.ts';

/** References by which pods name the images; that of the S3 server where it was asked for. */
export type ImageReferences = {
  windlass: string;
  'windlass-demo': string;
  redis: string;
  dovecot: string;
  s3?: string;
};

/** The repository and the tag of an image. */
export function splitReference(reference: string): [string, string] {
  const colon = reference.lastIndexOf(':');
  return [reference.slice(0, colon), reference.slice(colon + 1)];
}

type Image = { reference: string; base: string; files: ImageFile[] };

const scratch = 'scratch';

async function imageOf(name: string, base: string, files: ImageFile[]): Promise<Image> {
  const hash = await hashFiles(files, base, await readFile(containerfile, 'utf8'));
  return { reference: `localhost/${name}:${hash}`, base, files };
}

const programImage = async (name: ProgramImage, base: string) =>
  imageOf(name, base, await bundledPrograms(name));

/** The bases that a registry has, for nodes that can pull. */
const registry = {
  node: 'docker.io/library/node:24-slim',
  redis: 'docker.io/library/redis:7',
  dovecot: 'docker.io/dovecot/dovecot:2.3.21',
};

/** What is to be built, bases before what stands on them; `wanted` is what pods name. */
type Plan = {
  engine: (folder: string) => Engine;
  bases: Image[];
  wanted: Image[];
  references: ImageReferences;
};

/** The S3 server is built from Go modules wherever it runs. */
async function s3Image(program: string, base: string): Promise<Image> {
  return imageOf('windlass-s3', base, [{ to: '/usr/local/bin/versitygw', from: program }]);
}

async function planWithDocker(s3Program?: string): Promise<Plan> {
  const windlass = await programImage('windlass', registry.node);
  const demo = await programImage('windlass-demo', registry.node);
  const s3 = s3Program === undefined ? [] : [await s3Image(s3Program, registry.node)];
  const references = {
    windlass: windlass.reference,
    'windlass-demo': demo.reference,
    redis: registry.redis,
    dovecot: registry.dovecot,
    ...(s3[0] && { s3: s3[0].reference }),
  };
  return { engine: dockerEngine, bases: [], wanted: [windlass, demo, ...s3], references };
}

async function planFromThisMachine(s3Program?: string): Promise<Plan> {
  const base = await imageOf('windlass-base', scratch, await nodeFiles());
  const windlass = await programImage('windlass', base.reference);
  const demo = await programImage('windlass-demo', base.reference);
  const redis = await imageOf('windlass-redis', scratch, await redisFiles());
  const dovecot = await imageOf('windlass-dovecot', scratch, await dovecotFiles());
  const s3 = s3Program === undefined ? [] : [await s3Image(s3Program, scratch)];
  const references = {
    windlass: windlass.reference,
    'windlass-demo': demo.reference,
    redis: redis.reference,
    dovecot: dovecot.reference,
    ...(s3[0] && { s3: s3[0].reference }),
  };
  const wanted = [windlass, demo, redis, dovecot, ...s3];
  return { engine: buildahEngine, bases: [base], wanted, references };
}

/** Builds what the cluster lacks, loads it, and gives the references. */
export async function buildAndLoadImages(
  cluster: Cluster,
  progress: Progress,
  { s3 = false }: { s3?: boolean } = {},
): Promise<ImageReferences> {
  const withDocker =
    cluster.provider === 'kind' || (cluster.provider === 'current' && (await isDockerUsable()));
  if (!withDocker) await ensurePackages(['buildah', 'redis-server', 'dovecot-imapd'], progress);
  const s3Program = s3 ? await ensureS3Program(progress) : undefined;
  return progress.step('build the images and load them into the cluster', async (update) => {
    const plan = await (withDocker ? planWithDocker(s3Program) : planFromThisMachine(s3Program));
    const known = await imagesOfNodes(cluster);
    const missing = plan.wanted.filter((image) => !known.has(image.reference));
    if (missing.length > 0) {
      requireLoading(cluster, missing);
      await buildAndLoad(plan, missing, cluster, update);
    }
    return plan.references;
  });
}

/** Throws, before minutes go into building, for a cluster into which nothing can be loaded. */
function requireLoading({ provider }: Cluster, missing: Image[]): void {
  if (provider !== 'current') return;
  const names = missing.map((image) => image.reference).join(', ');
  throw new Error(
    `the nodes of this cluster do not have ${names}, and nothing can be loaded into a cluster that is not ours. ` +
      'Install the chart by hand with images from a registry (README.md), or leave WINDLASS_CLUSTER out',
  );
}

type NodeList = { items: { status: { images?: { names?: string[] }[] } }[] };

/**
 * What the nodes say that they have. They tell it every half minute: what was just loaded may be missing
 * here.
 */
async function imagesOfNodes(cluster: Cluster): Promise<Set<string>> {
  const { items } = await getJson<NodeList>(cluster, 'nodes');
  return new Set(items.flatMap((node) => node.status.images ?? []).flatMap((image) => image.names ?? []));
}

async function buildAndLoad(plan: Plan, missing: Image[], cluster: Cluster, update: Update): Promise<void> {
  const { cacheFolder } = readClusterConfig();
  await mkdir(cacheFolder, { recursive: true });
  const folder = await mkdtemp(join(cacheFolder, 'images-'));
  const engine = plan.engine(folder);
  try {
    const bases = plan.bases.filter((base) => missing.some((image) => image.base === base.reference));
    for (const image of [...bases, ...missing]) {
      update(`building ${image.reference}`);
      await buildOne(engine, image, folder);
    }
    for (const { reference } of missing) {
      update(`loading ${reference}`);
      const archive = join(folder, 'image.tar');
      await engine.save(reference, archive);
      await cluster.loadImage(archive, reference);
      await rm(archive);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function buildOne(engine: Engine, image: Image, folder: string): Promise<void> {
  const context = join(folder, 'context');
  await layOut(image.files, join(context, 'files'));
  await engine.build({ reference: image.reference, base: image.base, context, files: 'files' });
  await rm(context, { recursive: true });
}
