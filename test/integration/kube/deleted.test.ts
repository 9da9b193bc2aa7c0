/** Writes to an object that was deleted since it was read. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Workflow } from '../../../api/kinds.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { DeletedError, unlessDeleted } from '../../../kube/deleted.ts';
import { ApiError } from '../../../kube/errors.ts';
import { namespaces } from '../../../kube/resource.ts';
import { applyStatus, patchStatus } from '../../../operator/shared/status.ts';
import { workflows } from '../../../operator/shared/resources.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';

const namespace = 'shop';
const spec = { active: false, nodes: [{ id: 'trigger', manual: {} }] };
const cache = { resource: workflows, noteWrite: () => undefined };
let api: ApiServer;
let client: KubeClient;

beforeAll(async () => {
  api = await sharedApiServer();
  client = createClient(api.connection);
  await client.create(namespaces, { metadata: { name: namespace } });
});
afterAll(async () => {
  await client?.close();
  await api?.stop();
});

async function deleted(name: string): Promise<Workflow> {
  const workflow = await client.create(workflows, { metadata: { namespace, name }, spec });
  await client.delete(workflows, { namespace, name });
  return workflow;
}

test('a status write to an object that was deleted meanwhile tells that it is deleted', async () => {
  const workflow = await deleted('refund');
  const status = { observedGeneration: 1, conditions: [] };
  for (const write of [
    () => applyStatus({ client }, cache, workflow, status),
    () => patchStatus({ client }, cache, workflow, status, 'test'),
  ])
    await expect(write()).rejects.toThrow(
      new DeletedError('workflows.windlass.dev "refund" was deleted meanwhile'),
    );
});

test('a missing object of another name, or a missing kind, is an error of the API server', async () => {
  const patched = (resource = workflows) =>
    client.patch(resource, { namespace, name: 'other' }, { metadata: {} }, { type: 'merge' });
  await expect(unlessDeleted(workflows, 'refund', patched())).rejects.toThrow(ApiError);
  const unknown = { ...workflows, plural: 'flows' };
  await expect(unlessDeleted(unknown, 'other', patched(unknown))).rejects.toThrow(ApiError);
});
