/** Which priority level of the API server takes the programs' requests. */
import { request } from 'node:https';
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/resource.ts';
import { tokenOf } from '../../../support/cluster/users.ts';
import { pollUntil } from '../../../support/time/poll.ts';
import { PROJECT, SYSTEM, type AccountsHarness } from './harness.ts';

const RUNS = '/apis/windlass.dev/v1alpha1/namespaces/shop/workflowruns';

type Call = { method: string; path: string; body?: object; headers?: Record<string, string> };

/** Defines the tests. The set-up of the file that calls it comes first. */
export function testFlowControl(harness: () => AccountsHarness): void {
  /** The name of the FlowSchema under which the API server took the request. */
  async function flowSchemaOf(
    token: string | undefined,
    { method, path, body, headers }: Call,
  ): Promise<string> {
    const { admin, server } = harness();
    const { cert, key } = server.connection.auth;
    const options = {
      method,
      ca: server.connection.ca,
      agent: false as const,
      ...(token === undefined && { cert, key }),
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        'content-type': method === 'PATCH' ? 'application/json-patch+json' : 'application/json',
        ...headers,
      },
    };
    const uid = await new Promise((resolve, reject) => {
      const sent = request(server.url + path, options, (response) => {
        response.resume();
        resolve(response.headers['x-kubernetes-pf-flowschema-uid']);
      });
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });
    const list = (await admin.raw('GET', '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas')) as {
      items: KubeObject[];
    };
    return list.items.find(({ metadata }) => metadata.uid === uid)?.metadata.name ?? 'none';
  }

  test('what runners record and the gateway asks goes through a level of its own, and nobody else does', async () => {
    const { admin } = harness();
    const [runner, gateway, operator] = await Promise.all([
      tokenOf(admin, PROJECT, 'windlass-runner'),
      tokenOf(admin, SYSTEM, 'windlass-gateway'),
      tokenOf(admin, SYSTEM, 'windlass-operator'),
    ]);
    const person = { 'impersonate-user': 'jane', 'impersonate-group': 'system:authenticated' };
    const record: Call = { method: 'POST', path: RUNS, body: {} };
    await pollUntil(
      'the schemas in effect',
      async () => (await flowSchemaOf(runner, record)) === 'windlass-runners',
      { timeoutMs: 20_000 },
    );
    expect(await flowSchemaOf(runner, { method: 'PATCH', path: `${RUNS}/one/status`, body: [] })).toBe(
      'windlass-runners',
    );
    const review = '/apis/authentication.k8s.io/v1/tokenreviews';
    expect(await flowSchemaOf(gateway, { method: 'POST', path: review, body: {} })).toBe('windlass-gateway');
    const access = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    expect(await flowSchemaOf(gateway, { method: 'POST', path: access, body: {} })).toBe('windlass-gateway');
    expect(await flowSchemaOf(operator, record)).toBe('windlass-operator');
    expect(await flowSchemaOf(undefined, { ...record, headers: person })).toBe('global-default');
    expect(await flowSchemaOf(undefined, { method: 'GET', path: RUNS, headers: person })).toBe(
      'global-default',
    );
    // Its Lease and its routes are what others wait for.
    const lease = `/apis/coordination.k8s.io/v1/namespaces/${SYSTEM}/leases/one`;
    expect(await flowSchemaOf(gateway, { method: 'DELETE', path: lease })).not.toBe('windlass-gateway');
  });

  test('the level is limited, and lends more than it borrows', async () => {
    const { admin } = harness();
    const path = '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/windlass';
    expect(await admin.raw('GET', path)).toMatchObject({
      spec: {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares: 10,
          limitResponse: { type: 'Queue' },
          borrowingLimitPercent: 50,
        },
      },
    });
  });
}
