/** Flux's kustomize-controller, built from its Go module, and the definitions of what it watches. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KubeClient } from '../../kube/client.ts';
import type { CustomResourceDefinition } from '../../kube/resource.ts';
import { runGo } from '../cluster/build.ts';
import { installCrd } from '../support/cluster/crds.ts';
import { ensureGoProgram } from '../support/cluster/goProgram.ts';
import type { Progress } from '../support/process/progress.ts';

const MODULE = 'github.com/fluxcd/kustomize-controller';
const sources = join(import.meta.dirname, 'flux');

/** Its sources of manifests. It watches all of them, so that all must be defined. */
const SOURCES: Record<string, string> = {
  GitRepository: 'gitrepositories',
  OCIRepository: 'ocirepositories',
  Bucket: 'buckets',
};

/** The program, built if it does not exist yet. Throws, with the place of the log, where that fails. */
export function ensureKustomizeController(progress: Progress): Promise<string> {
  const program = { title: "Flux's kustomize-controller", sources, package: MODULE };
  return ensureGoProgram({ ...program, file: 'kustomize-controller', cache: 'flux' }, progress);
}

/** The version that go.mod pins. */
export async function fluxVersion(): Promise<string> {
  const text = await readFile(join(sources, 'go.mod'), 'utf8');
  return new RegExp(`\t${MODULE} (\\S+)`).exec(text)?.[1] ?? '';
}

/**
 * Installs the Kustomization of the same module, and sources without a schema, which are written by the suite
 * in place of Flux's source-controller.
 */
export async function installFluxCrds(client: KubeClient): Promise<void> {
  await installCrd(client, await kustomizationCrd());
  for (const [kind, plural] of Object.entries(SOURCES)) await installCrd(client, sourceCrd(kind, plural));
}

async function kustomizationCrd(): Promise<CustomResourceDefinition> {
  const answer = await runGo(['mod', 'download', '-json', MODULE], { cwd: sources });
  const { Dir } = JSON.parse(answer) as { Dir: string };
  const file = join(Dir, 'config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml');
  return parse(await readFile(file, 'utf8')) as CustomResourceDefinition;
}

function sourceCrd(kind: string, plural: string): CustomResourceDefinition {
  const group = 'source.toolkit.fluxcd.io';
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural },
      scope: 'Namespaced',
      versions: [{ ...version, subresources: { status: {} } }],
    },
  };
}
