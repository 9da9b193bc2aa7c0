/**
 * Which of the manifests that people get wrong the API server refuses, and with which words; all others it
 * admits.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readMistakes } from '../../mistakes/mistakes.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { createObjectApplier, type ObjectApplier } from '../../support/cluster/objectApplier.ts';

let server: ApiServer;
let applier: ObjectApplier;

beforeAll(async () => {
  server = await sharedApiServer();
  applier = createObjectApplier(server);
}, 600_000);

afterAll(async () => {
  await applier?.close();
  await server?.stop();
});

test.each(readMistakes().map((mistake) => [mistake.wrong, mistake] as const))(
  '%s: apply says so where it is refused there',
  async (_wrong, { manifest, caught, says }) => {
    const said = await applier.create(manifest, { namespace: 'default', dryRun: true });
    expect(said).toContain(caught === 'apply' ? says : 'created (server dry run)');
  },
);
