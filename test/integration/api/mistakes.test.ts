/**
 * Which of the manifests that people get wrong the API server refuses, and with which words; all others it
 * admits.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { readMistakes } from '../../mistakes/mistakes.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { kubectl } from '../../support/cluster/kubectl.ts';

let server: ApiServer;
let client: KubeClient;

beforeAll(async () => {
  server = await sharedApiServer();
  client = createClient(server.connection);
}, 600_000);

afterAll(async () => {
  await client?.close();
  await server?.stop();
});

test.each(readMistakes().map((mistake) => [mistake.wrong, mistake] as const))(
  '%s: apply says so where it is refused there',
  async (_wrong, { manifest, caught, says }) => {
    const args = ['-n', 'default', 'apply', '--dry-run=server', '-f', '-'];
    const said = await kubectl(server, args, { input: manifest }).catch((error: Error) => error.message);
    expect(said).toContain(caught === 'apply' ? says : 'created (server dry run)');
  },
);
