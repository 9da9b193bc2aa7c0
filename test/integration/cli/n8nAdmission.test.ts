/** What the import of n8n writes, at the admission of a real API server. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { credentials, workflows } from '../../../operator/shared/resources.ts';
import { convertN8n } from '../../../cli/n8n/convert.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { namespaces } from '../../../kube/resource.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { ALL } from '../../support/n8n/workflows.ts';

const namespace = 'n8n-import';
let client: KubeClient;

beforeAll(async () => {
  const server = await sharedApiServer();
  client = createClient(server.connection);
  await client.create(namespaces, { metadata: { name: namespace } });
}, 600_000);

afterAll(() => client?.close());

test.each(Object.entries(ALL))('the API server admits what %s becomes', async (_name, json) => {
  const { documents } = convertN8n(json, { namespace });
  const admitted = await Promise.all(
    documents.map((document) =>
      document.kind === 'Workflow'
        ? client.create(
            workflows,
            { metadata: { ...document.metadata, namespace }, spec: document.spec },
            { dryRun: true },
          )
        : client.create(
            credentials,
            { metadata: { ...document.metadata, namespace }, spec: document.spec },
            { dryRun: true },
          ),
    ),
  );
  expect(admitted).toHaveLength(documents.length);
});
