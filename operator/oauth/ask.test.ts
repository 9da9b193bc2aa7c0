import { expect, test } from 'vitest';
import type { Credential } from '../../api/kinds.ts';
import { WaitingError } from '../../kube/controller.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { createEgress } from '../../nodes/egress/egress.ts';
import { parseEgressRules } from '../../nodes/egress/rules.ts';
import { createAsk } from './ask.ts';

const credential: Credential = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Credential',
  metadata: { name: 'mailbox', namespace: 'shop' },
  spec: { oauth2: { preset: 'google', clientID: 'a', clientSecretRef: { name: 'client', key: 'secret' } } },
};

test('an operator that stopped leading while it read the Secret calls no provider', async () => {
  const shown: (string | undefined)[] = [];
  let isLeading = true;
  let isLost = false;
  const client = {
    find: async <T extends KubeObject>(): Promise<T | undefined> => {
      isLeading = !isLost;
      return { metadata: { name: 'client' }, data: { secret: btoa('hush\n') } } as unknown as T;
    },
  };
  const egress = createEgress(parseEgressRules([], []));
  const ask = createAsk({ client, egress, isLeading: () => isLeading });
  const question = () =>
    ask(credential, async ({ clientSecret }) => {
      shown.push(clientSecret);
    });
  await question();
  isLost = true;
  await expect(question()).rejects.toBeInstanceOf(WaitingError);
  expect(shown).toEqual(['hush']);
});
