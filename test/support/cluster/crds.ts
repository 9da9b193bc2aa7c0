/** Installs the custom resource definitions of this checkout on an API server. */
import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { KubeClient } from '../../../kube/client.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { clusterResource, type CustomResourceDefinition } from '../../../kube/resource.ts';
import { pollUntil } from '../time/poll.ts';

const customResourceDefinitions = clusterResource<CustomResourceDefinition>(
  'apiextensions.k8s.io',
  'v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
);

const folder = new URL('../../../crds/', import.meta.url);

/** Applies all of them and waits until the API server serves them. */
export async function installCrds(client: KubeClient): Promise<void> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml'));
  await Promise.all(
    files.map(async (file) => {
      await installCrd(client, parse(await readFile(new URL(file, folder), 'utf8')));
    }),
  );
}

/** Applies a definition and waits until the API server serves it. */
export async function installCrd(client: KubeClient, crd: CustomResourceDefinition): Promise<void> {
  await client.apply(customResourceDefinitions, crd);
  const { name } = crd.metadata;
  const options = { timeoutMs: 20_000, everyMs: 50 };
  await pollUntil(`${name} being served`, () => isServed(client, name), options);
}

/** Takes every CEL rule out of a definition, as if no version had had one. `installCrds` puts them back. */
export async function removeRules(client: KubeClient, name: string): Promise<void> {
  const crd = await client.get(customResourceDefinitions, { name });
  const text = JSON.stringify({ ...crd, metadata: { name } }, (key, value: unknown) =>
    key === 'x-kubernetes-validations' ? undefined : value,
  );
  await client.apply(customResourceDefinitions, JSON.parse(text) as CustomResourceDefinition);
}

async function isServed(client: KubeClient, name: string): Promise<boolean> {
  const crd = await client.get(customResourceDefinitions, { name });
  return findCondition(crd.status?.conditions, 'Established')?.status === 'True';
}
