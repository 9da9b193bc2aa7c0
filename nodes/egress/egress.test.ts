import { BlockList, isIPv6 } from 'node:net';
import { assert, constant, integer, ipV4, ipV6, oneof, pre, property, tuple } from 'fast-check';
import { expect, test } from 'vitest';
import { isWithin, parseAddress, parseRange } from './address.ts';
import { createEgress, type HostAddress } from './egress.ts';
import { egressProblems, parseEgressRules } from './rules.ts';

/**
 * Names as a name server would give them; what is not here the system makes an address of, or does not know.
 */
const NAMES: Record<string, string[]> = {
  'public.example': ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'],
  'inside.example': ['10.1.2.3'],
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
  'six.example': ['fd00::1'],
  'mapped.example': ['::ffff:169.254.169.254'],
  'dns64.example': ['64:ff9b::93.184.216.34'],
  'model.models.svc': ['10.96.0.20'],
  localhost: ['127.0.0.1', '::1'],
};

const lookup = async (host: string): Promise<HostAddress[]> => {
  const found = NAMES[host.toLowerCase().replace(/\.$/, '')];
  if (!found) throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
  return found.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
};

const egress = (allow: string[] = [], deny: string[] = []) =>
  createEgress(parseEgressRules(allow, deny), lookup);

/** The reason that keeps the URL from being connected to, or the addresses that would be connected to. */
async function judge(url: string, guard = egress()): Promise<string> {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return guard.resolve(host, Number(port) || (protocol === 'https:' ? 443 : 80)).then(
    (found) => found.map(({ address }) => address).join(' '),
    (error: { reason?: string }) => error.reason ?? 'defect',
  );
}

const FORBIDDEN = [
  // Loopback, in every way of writing it.
  'http://127.0.0.1/',
  'http://127.0.0.1./',
  'http://127.1/',
  'http://127.0.1/',
  'http://127.255.255.254/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.1/',
  'http://0x7F.0x0.0x0.0x1/',
  'http://017700000001/',
  'http://0177.0.0.1/',
  'http://0177.0.0x0.1/',
  'http://%31%32%37.0.0.1/',
  'http://１２７.０.０.１/',
  'http://127。0。0。1/',
  'http://localhost/',
  'http://localhost./',
  'http://LOCALHOST:8080/',
  'http://[::1]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[0000::0001]:6379/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::127.0.0.1]/',
  'http://[::ffff:0:127.0.0.1]/',
  // This host.
  'http://0/',
  'http://0.0.0.0/',
  'http://0x0/',
  'http://[::]/',
  'http://[::ffff:0.0.0.0]/',
  // The metadata of clouds.
  'http://169.254.169.254/latest/meta-data/',
  'http://2852039166/',
  'http://0xa9fea9fe/',
  'http://0251.0376.0251.0376/',
  'http://169.254.43518/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[fe80::a9fe:a9fe]/',
  'http://[fd00:ec2::254]/',
  'http://[64:ff9b::169.254.169.254]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[2002:a9fe:a9fe::1]/',
  'http://100.100.100.200/',
  'http://192.0.0.192/',
  'http://168.63.129.16/',
  // Private networks and clusters.
  'http://10.0.0.1/',
  'https://10.96.0.1/api',
  'http://10.244.0.7:10250/pods',
  'http://012.0.0.1/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.1.1/',
  'http://3232235777/',
  'http://100.64.0.1/',
  'http://198.18.0.1/',
  'http://[fc00::1]/',
  'http://[fdff:ffff::1]/',
  'http://[fec0::1]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[64:ff9b::10.0.0.1]/',
  'http://[64:ff9b:1::10.0.0.1]/',
  'http://[2002:a00:1::]/',
  'http://[2001:0:4136:e378:8000:63bf:f5ff:fffe]/',
  // Everybody at once, and nobody.
  'http://224.0.0.1/',
  'http://239.255.255.250/',
  'http://255.255.255.255/',
  'http://240.0.0.1/',
  'http://192.0.2.1/',
  'http://[ff02::1]/',
  'http://[2001:db8::1]/',
  'http://[100::1]/',
  'http://[5f00::1]/',
  'http://[4000::1]/',
  // Names that lead there.
  'http://inside.example/',
  'http://INSIDE.example./',
  'http://mixed.example/',
  'http://six.example/',
  'http://mapped.example/',
  'http://model.models.svc:8080/',
];

test.each(FORBIDDEN)('%s is not connected to', async (url) => {
  expect(await judge(url)).toBe('AddressForbidden');
});

test.each([
  ['http://93.184.216.34/', '93.184.216.34'],
  ['http://1.1.1.1/', '1.1.1.1'],
  ['http://172.32.0.1/', '172.32.0.1'],
  ['http://[2606:4700::1111]/', '2606:4700::1111'],
  ['http://[::ffff:1.1.1.1]/', '::ffff:101:101'],
  ['http://[64:ff9b::1.1.1.1]/', '64:ff9b::101:101'],
  ['https://public.example./', '93.184.216.34 2606:2800:220:1:248:1893:25c8:1946'],
  ['https://dns64.example/', '64:ff9b::93.184.216.34'],
])('%s, which everybody can reach, is', async (url, addresses) => {
  expect(await judge(url)).toBe(addresses);
});

test.each<[string, string[], string[], string, string]>([
  ['a range admits its addresses', ['10.0.0.0/8'], [], 'http://10.1.2.3/', '10.1.2.3'],
  ['a range admits names that lead into it', ['10.0.0.0/8'], [], 'http://inside.example/', '10.1.2.3'],
  ['a range admits nothing else', ['10.0.0.0/16'], [], 'http://10.1.2.3/', 'AddressForbidden'],
  ['a range admits no second address', ['93.184.216.0/24'], [], 'http://mixed.example/', 'AddressForbidden'],
  [
    'what is denied is out of an allowed range',
    ['10.0.0.0/8'],
    ['10.1.0.0/16'],
    'http://10.1.2.3/',
    'AddressForbidden',
  ],
  ['what is denied may be public', [], ['93.184.216.34'], 'http://public.example/', 'AddressForbidden'],
  [
    'what is denied is so through a translator',
    [],
    ['1.1.1.1'],
    'http://[64:ff9b::1.1.1.1]/',
    'AddressForbidden',
  ],
  ['a name admits its port', ['model.models.svc:8080'], [], 'http://Model.models.svc.:8080/', '10.96.0.20'],
  [
    'a name admits no other port',
    ['model.models.svc:8080'],
    [],
    'http://model.models.svc/',
    'AddressForbidden',
  ],
  ['a name admits no other name', ['model.models.svc:80'], [], 'http://inside.example/', 'AddressForbidden'],
  [
    'a name is stronger than what is denied',
    ['model.models.svc:80'],
    ['10.96.0.0/16'],
    'http://model.models.svc/',
    '10.96.0.20',
  ],
  ['an address with its port admits names too', ['10.1.2.3:80'], [], 'http://inside.example/', '10.1.2.3'],
  ['an address admits no other port', ['10.1.2.3:81'], [], 'http://10.1.2.3/', 'AddressForbidden'],
  ['an IPv4 range admits the mapped form', ['10.0.0.0/8'], [], 'http://[::ffff:10.1.2.3]/', '::ffff:a01:203'],
  ['an IPv6 address stands in brackets', ['[fd00::1]:80'], [], 'http://six.example/', 'fd00::1'],
])('%s', async (_sentence, allow, deny, url, result) => {
  expect(await judge(url, egress(allow, deny))).toBe(result);
});

test('a name that leads nowhere is told as such, and may be tried again', async () => {
  await expect(egress().resolve('nowhere.example', 80)).rejects.toMatchObject({
    reason: 'Unreachable',
    retryable: true,
    message: 'the host nowhere.example does not exist',
  });
});

test('what is refused is named by its host and kind, and not by its address', async () => {
  await expect(egress().resolve('inside.example', 80)).rejects.toMatchObject({
    retryable: false,
    message:
      'inside.example leads to a private address, which steps may not connect to: to allow it, add it to runner.egress.allow of the chart, or (except token endpoints) to egress.allow of the ProjectSettings "default"',
  });
});

test.each([
  '10.0.0.0/33',
  'fd00::/129',
  'model.models.svc',
  'model:0',
  'a b:80',
  '127.1:80',
  '0x7f:80',
  '*:80',
  '',
  'http://a:80',
  '[fd00::1]',
])('the entry "%s" is refused by its name', (entry) => {
  expect(egressProblems('allow', [entry])).toEqual([expect.stringContaining(entry)]);
});

test('what is denied is an address or a range', () => {
  expect(egressProblems('deny', ['10.0.0.0/8', 'fd00::1'])).toEqual([]);
  expect(egressProblems('deny', ['model.models.svc:80', '10.0.0.1:80'])).toHaveLength(2);
});

const bits = (family: 4 | 6) => integer({ min: 0, max: family === 4 ? 32 : 128 });
const cases = oneof(
  tuple(constant('ipv4' as const), ipV4(), ipV4(), bits(4)),
  tuple(constant('ipv6' as const), ipV6(), ipV6(), bits(6)),
);

test('ranges hold what the list of Node.js says that they hold', () => {
  assert(
    property(cases, ([family, start, text, length]) => {
      const [address, range] = [parseAddress(text), parseRange(`${start}/${length}`)];
      // The list counts mapped addresses in its own way.
      pre(address?.kind() === family && range?.start.kind() === family);
      const list = new BlockList();
      list.addSubnet(start, length, family);
      expect(address && range && isWithin(address, range)).toBe(list.check(text, family));
    }),
  );
});
