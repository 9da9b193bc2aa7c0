import { describe, expect, test } from 'vitest';
import { localCredentials } from './credentials.ts';
import { projectOf } from './project.ts';

const head = 'apiVersion: windlass.dev/v1alpha1\nkind: Credential\nmetadata: { name: shop }\n';
const credential = `${head}spec: { http: { bearer: { tokenRef: { name: shop, key: token } } } }\n`;
const secretOf = (data: string) => `apiVersion: v1\nkind: Secret\nmetadata: { name: shop }\n${data}\n`;
const project = (...texts: string[]) =>
  projectOf(texts.map((text, index) => ({ file: `${index}.yaml`, text })));
const ref = { name: 'shop', key: 'token' };

describe('the manifests of a local run', () => {
  test.each([
    ['stringData: { token: abc }', 'abc'],
    ['data: { token: YWJj }', 'abc'],
    ['data: { token: YWJj }\nstringData: { token: xyz }', 'xyz'],
  ])('a Secret with %j gives %s', async (data, value) => {
    const access = await localCredentials(project(credential, secretOf(data))).get('shop');
    expect(access.secret(ref).reveal()).toBe(value);
  });

  test('a Credential that is missing says how to add it', async () => {
    await expect(localCredentials(project()).get('shop')).rejects.toThrow(
      /no Credential shop .*--credentials/,
    );
  });

  test('a Secret that is missing says how to add it', async () => {
    const access = await localCredentials(project(credential)).get('shop');
    expect(() => access.secret(ref)).toThrow(/no Secret shop with the key token: add it with --credentials/);
  });

  test('variables are those of the ConfigMap', () => {
    const map =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: windlass-variables }\ndata: { shop: a }\n';
    expect(project(map).variables.values).toEqual({ shop: 'a' });
  });

  test.each([
    ['a: [', /^0\.yaml:1:\d+: error parsing/],
    [`${head}spec: {}\n`, /^0\.yaml:4: .*exactly one kind/],
  ])('%j is refused with its place', (text, says) => {
    expect(() => project(text)).toThrow(says);
  });
});
