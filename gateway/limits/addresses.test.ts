import { expect, test } from 'vitest';
import { createAddresses, isNetwork } from './addresses.ts';

const { clientOf, isProxy } = createAddresses(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']);

test.each([
  ['a client that comes itself', '203.0.113.9', undefined, '203.0.113.9'],
  ['a client that claims another address', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['a client behind a proxy', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['a proxy on a socket for both families', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['what the client wrote before', '10.1.2.3', '1.2.3.4, 198.51.100.1', '198.51.100.1'],
  ['two proxies', '192.0.2.7', '1.2.3.4, 198.51.100.1, 10.9.9.9', '198.51.100.1'],
  ['a header that came twice', '10.1.2.3', ['1.2.3.4', '198.51.100.1'], '198.51.100.1'],
  [
    'what the client wrote a thousand times',
    '10.1.2.3',
    `${'1.2.3.4,'.repeat(1_000)}198.51.100.1`,
    '198.51.100.1',
  ],
  ['proxies alone', '10.1.2.3', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
  ['a proxy that says nothing', '10.1.2.3', undefined, '10.1.2.3'],
  ['what is no address', '10.1.2.3', '198.51.100.1, unknown', '10.1.2.3'],
  ['an address with a port', '10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
  ['IPv6 in brackets with a port', '10.1.2.3', '[2001:db8:1:2:3::4]:80', '2001:db8:1:2::/64'],
  ['no peer any more', undefined, '198.51.100.1', ''],
])('%s', (_what, peer, forwarded, client) => {
  expect(clientOf(peer, forwarded)).toBe(client);
});

test('an IPv6 network of 64 bits counts as one client', () => {
  const { clientOf: whoIs } = createAddresses([]);
  expect(whoIs('2001:db8:1:2:aaaa::1', undefined)).toBe(whoIs('2001:DB8:1:2::2', undefined));
  expect(whoIs('2001:db8:1:2::1', undefined)).not.toBe(whoIs('2001:db8:1:3::1', undefined));
  expect(whoIs('2001:db8::1', undefined)).toBe('2001:db8:0:0::/64');
});

test('proxies can be addresses and networks, IPv4 and IPv6', () => {
  expect(['10.255.0.1', '192.0.2.7', 'fd12::1', '::ffff:10.0.0.1'].every(isProxy)).toBe(true);
  expect(['11.0.0.1', '192.0.2.8', 'fe80::1', '', 'localhost'].some(isProxy)).toBe(false);
});

test('an invalid network is refused', () => {
  expect(['10.0.0.0/8', '::/0', '192.0.2.1', 'fd00::/8'].every(isNetwork)).toBe(true);
  expect(['10.0.0.0/33', 'fd00::/129', '10.0.0.0/', 'ten', '10.0.0.0/8/8', '*'].some(isNetwork)).toBe(false);
});
