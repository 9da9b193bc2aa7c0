import { expect, test } from 'vitest';
import type { CredentialObject } from '../kube/resources.ts';
import { secretsNote } from './secretsNote.ts';

type Spec = CredentialObject['spec'];

const ref = (name: string) => ({ name, key: 'password' });

test.each<[what: string, spec: Spec, note: string[]]>([
  [
    'a Secret that somebody else created',
    { smtp: { host: 'mail', from: 'a@example.com', passwordRef: ref('accounts') } },
    ['The Secret "accounts" is kept.'],
  ],
  [
    'the Secret of the credential',
    { smtp: { host: 'mail', from: 'a@example.com', passwordRef: ref('orders-secret') } },
    ['The Secret "orders-secret" is deleted too, if the console created it.'],
  ],
  [
    'the Secret of the credential whose name something else had',
    { smtp: { host: 'mail', from: 'a@example.com', passwordRef: ref('orders-secret-x1y2z') } },
    ['The Secret "orders-secret-x1y2z" is deleted too, if the console created it.'],
  ],
  [
    'one Secret with several keys',
    {
      s3: {
        bucket: 'b',
        endpoint: 'https://s3',
        accessKeyIdRef: ref('keys'),
        secretAccessKeyRef: ref('keys'),
      },
    },
    ['The Secret "keys" is kept.'],
  ],
  ['none', { smtp: { host: 'mail', from: 'a@example.com' } }, []],
])('deletion: %s', (_what, spec, note) => {
  expect(secretsNote({ metadata: { name: 'orders' }, spec })).toEqual(note);
});
