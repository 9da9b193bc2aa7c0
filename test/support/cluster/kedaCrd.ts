/** A kind ScaledObject, as far as the operator writes and reads it. KEDA itself is not there. */
import type { KubeClient } from '../../../kube/client.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { clusterResource, type CustomResourceDefinition } from '../../../kube/resource.ts';
import { pollUntil } from '../time/poll.ts';

const definitions = clusterResource<CustomResourceDefinition>(
  'apiextensions.k8s.io',
  'v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
);

const text = { type: 'string' };
const count = { type: 'integer', format: 'int32' };
const object = (properties: object, required: string[] = []) => ({ type: 'object', properties, required });

/** The members that KEDA's own definition requires are required here, too. */
const schema = object({
  spec: object(
    {
      scaleTargetRef: object({ apiVersion: text, kind: text, name: { ...text, minLength: 1 } }, ['name']),
      pollingInterval: { ...count, minimum: 1 },
      minReplicaCount: { ...count, minimum: 0 },
      maxReplicaCount: count,
      fallback: object({ failureThreshold: count, replicas: count }),
      triggers: {
        type: 'array',
        minItems: 1,
        items: object(
          {
            type: text,
            metadata: { type: 'object', additionalProperties: text },
            authenticationRef: object({ name: text }, ['name']),
          },
          ['type', 'metadata'],
        ),
      },
    },
    ['scaleTargetRef', 'triggers'],
  ),
  status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
});

/** Applies the definition and waits until the API server serves it. */
export async function installScaledObjects(client: KubeClient): Promise<void> {
  const name = 'scaledobjects.keda.sh';
  const names = { kind: 'ScaledObject', listKind: 'ScaledObjectList', plural: 'scaledobjects' };
  await client.apply(definitions, {
    metadata: { name },
    spec: {
      group: 'keda.sh',
      names: { ...names, singular: 'scaledobject' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
        },
      ],
    },
  });
  await pollUntil(
    'ScaledObjects being served',
    async () => {
      const { status } = await client.get(definitions, { name });
      return findCondition(status?.conditions, 'Established')?.status === 'True';
    },
    { timeoutMs: 20_000, everyMs: 50 },
  );
}
