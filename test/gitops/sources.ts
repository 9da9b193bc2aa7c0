/**
 * Stands in for Flux's source-controller: GitRepositories whose artifacts an HTTP server serves, as that
 * controller does.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../kube/client.ts';
import { namespacedResource } from '../../kube/resource.ts';
import { listen } from '../support/network/listen.ts';
import { runCommand } from '../support/process/command.ts';
import { makeFolder } from '../support/process/folder.ts';

export type Sources = {
  /**
   * Makes the content of the folder the newest revision of the GitRepository, which is created if it does
   * not exist. Returns the revision.
   */
  publish(name: string, folder: string): Promise<string>;
  close(): Promise<void>;
};

const gitRepositories = namespacedResource(
  'source.toolkit.fluxcd.io',
  'v1',
  'GitRepository',
  'gitrepositories',
);

/** Starts the server; the GitRepositories are in that namespace. */
export async function startSources(client: KubeClient, namespace: string): Promise<Sources> {
  const artifacts = new Map<string, Buffer>();
  const archives = await makeFolder('artifacts');
  const server = await listen(({ url = '' }, response) => {
    const artifact = artifacts.get(url);
    response.writeHead(artifact ? 200 : 404).end(artifact);
  });

  async function publish(name: string, folder: string): Promise<string> {
    const commit = hashOf('sha1', `${name} ${artifacts.size}`);
    const archive = join(archives.path, `${commit}.tar.gz`);
    await runCommand('tar', ['--create', '--gzip', '--file', archive, '--directory', folder, '.']);
    const content = await readFile(archive);
    const path = `/${name}/${commit}.tar.gz`;
    artifacts.set(path, content);
    const artifact = {
      path: path.slice(1),
      url: `${server.url}${path}`,
      revision: `main@sha1:${commit}`,
      digest: `sha256:${hashOf('sha256', content)}`,
      lastUpdateTime: new Date().toISOString(),
      size: content.length,
    };
    const metadata = { namespace, name };
    const spec = { url: 'https://git.example.com/shop', interval: '10m' };
    await client.apply(gitRepositories, { metadata, spec });
    await client.patch(
      gitRepositories,
      metadata,
      { status: { artifact } },
      { type: 'merge', subresource: 'status' },
    );
    return artifact.revision;
  }

  return {
    publish,
    close: async () => {
      await server.close();
      archives.remove();
    },
  };
}

const hashOf = (algorithm: string, content: string | Buffer): string =>
  createHash(algorithm).update(content).digest('hex');
