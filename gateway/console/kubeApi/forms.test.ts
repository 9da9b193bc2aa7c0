import { expect, test } from 'vitest';
import { checkRequest, type AllowedRequest } from './allowlist.ts';
import { acceptHeader, bodyTypeOf, requestedForm } from './forms.ts';

const SHOP = '/apis/windlass.dev/v1alpha1/namespaces/shop';
const needed = (method: string, url: string): AllowedRequest => {
  const asked = checkRequest(method, url);
  if (asked === undefined) throw new Error(`${method} ${url} is not allowed`);
  return asked;
};

test.each([
  [undefined, 'object'],
  ['', 'object'],
  ['*/*', 'object'],
  ['application/json', 'object'],
  ['application/yaml', 'object'],
  ['application/vnd.kubernetes.protobuf', 'object'],
  ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', 'table'],
  ['application/json; as=Table; g=meta.k8s.io; v=v1', 'table'],
  ['application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', 'metadata'],
  ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'metadata'],
  ['application/json;as=Scale;g=autoscaling;v=v1', 'object'],
] as const)('%s asks for the form %s', (accept, form) => {
  expect(requestedForm(accept)).toBe(form);
});

test('formats are requested as JSON, and single objects of a watch', () => {
  expect(acceptHeader('object', 'get')).toBe('application/json');
  expect(acceptHeader('table', 'list')).toMatch(/^application\/json;as=Table;/);
  expect(acceptHeader('metadata', 'list')).toMatch(/^application\/json;as=PartialObjectMetadataList;/);
  expect(acceptHeader('metadata', 'watch')).toMatch(/^application\/json;as=PartialObjectMetadata;/);
});

test.each([
  ['POST', `${SHOP}/workflows`, 'application/json', true],
  ['POST', `${SHOP}/workflows`, 'Application/JSON; charset=utf-8', true],
  ['POST', `${SHOP}/workflows`, 'application/yaml', false],
  ['POST', `${SHOP}/workflows`, 'application/vnd.kubernetes.protobuf', false],
  ['POST', `${SHOP}/workflows`, undefined, false],
  ['PUT', `${SHOP}/workflows/orders`, 'application/json', true],
  ['DELETE', `${SHOP}/workflows/orders`, 'application/json', true],
  ['PATCH', `${SHOP}/workflows/orders`, 'application/merge-patch+json', true],
  ['PATCH', `${SHOP}/workflows/orders`, 'application/apply-patch+yaml', true],
  ['PATCH', `${SHOP}/workflows/orders`, 'application/json-patch+json', true],
  ['PATCH', `${SHOP}/workflows/orders`, 'application/json', false],
  ['PATCH', '/api/v1/namespaces/shop/secrets/mail', 'application/merge-patch+json', true],
  ['PATCH', '/api/v1/namespaces/shop/secrets/mail', 'application/json-patch+json', false],
  ['PATCH', '/api/v1/namespaces/shop/secrets/mail', 'application/strategic-merge-patch+json', false],
  ['GET', `${SHOP}/workflows`, 'application/json', false],
])('%s %s with a body of type %s: %s', (method, url, type, isTaken) => {
  expect(bodyTypeOf(needed(method, url), type) !== undefined).toBe(isTaken);
});
