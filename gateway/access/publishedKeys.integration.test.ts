import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import { listen, sendJson } from '../../test/support/network/listen.ts';
import { fetchProviderKeys } from './publishedKeys.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');

test("a provider's keys are read where it says that they are, without those that are no keys for signing", async () => {
  const jwk = (key: KeyObject, over: object) => ({ ...key.export({ format: 'jwk' }), ...over });
  const odd = [{ kty: 'oct', k: 'c2VjcmV0', kid: 'odd' }, { kty: 'none' }];
  const set = [
    ...odd,
    jwk(rsa.publicKey, { kid: 'rsa' }),
    jwk(ec.publicKey, { kid: 'ec', use: 'enc' }),
    jwk(ed.publicKey, {}),
  ];
  const provider = await listen(({ url = '' }, response) => {
    const { url: issuer } = provider;
    const jwks_uri = `${issuer}/keys`;
    sendJson(
      response,
      url === '/missing' ? 404 : 200,
      url === '/keys' ? { keys: set } : { issuer, jwks_uri },
    );
  });
  try {
    const { issuer, keys } = await fetchProviderKeys(provider.url);
    expect([issuer, [...keys.keys()]]).toEqual([provider.url, ['rsa', '#3']]);
    await expect(fetchProviderKeys(`${provider.url}/other`)).rejects.toThrow(/issuer|unexpected/);
  } finally {
    await provider.close();
  }
});
