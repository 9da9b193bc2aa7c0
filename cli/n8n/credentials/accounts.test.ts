import { expect, test } from 'vitest';
import { convertN8n } from '../convert.ts';

test.each([
  ['https://shop.example.org/orders', ['shop.example.org']],
  ['https://<your-domain.com>/orders', ['api.example.com']],
  ['https://[your-site.com]/orders', ['api.example.com']],
])('the Credential of a request to %s allows %j', (url, allowedHosts) => {
  const node = {
    name: 'Orders',
    type: 'n8n-nodes-base.httpRequest',
    typeVersion: 4.2,
    parameters: { url, authentication: 'genericCredentialType', genericAuthType: 'httpBasicAuth' },
    credentials: { httpBasicAuth: { id: '1', name: 'shop' } },
  };
  const start = { name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} };
  const connections = { Start: { main: [[{ node: 'Orders', type: 'main', index: 0 }]] } };
  const { documents } = convertN8n({ name: 'orders', nodes: [start, node], connections });
  const credentials = documents.filter(({ kind }) => kind === 'Credential');
  expect(credentials).toMatchObject([{ spec: { http: { allowedHosts } } }]);
});
