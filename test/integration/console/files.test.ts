/**
 * What a browser gets of the console before anybody has signed in: the page, its parts, and links that sign
 * in.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GROUP } from '../../../api/group.ts';
import { serviceAccounts } from '../../../kube/resource.ts';
import { MAX_SIGN_IN_LINKS } from '../../../store/sessions/links.ts';
import { runCommand } from '../../support/process/command.ts';
import { visit } from '../../support/console/cookieClient.ts';
import { NAMESPACE, startGatewayHarness, type GatewayHarness } from '../../support/gateway/gatewayHarness.ts';
import { makeFolder } from '../../support/process/folder.ts';
import { startGateway } from '../../support/gateway/gatewayProcess.ts';
import { createUser, tokenOf } from '../../support/cluster/users.ts';

const SCRIPT = `console.log(${JSON.stringify('x'.repeat(2_000))});`;
const NONCES = /<meta name="csp-nonce" content="([\w-]{24})"><link nonce="([\w-]{24})">/;

let harness: GatewayHarness;
let folder: { path: string; remove: () => void };
let token: string;

beforeAll(async () => {
  folder = await makeFolder('console');
  const assets = join(folder.path, 'assets');
  await mkdir(assets);
  await Promise.all([
    writeFile(
      join(folder.path, 'index.html'),
      '<meta name="csp-nonce" content="__NONCE__"><link nonce="__NONCE__">',
    ),
    writeFile(join(folder.path, 'secret.txt'), 'not an asset'),
    writeFile(join(assets, 'main-ABC123.js'), SCRIPT),
    writeFile(join(assets, 'main-ABC123.js.br'), brotliCompressSync(SCRIPT)),
    writeFile(join(assets, 'main-ABC123.js.gz'), gzipSync(SCRIPT)),
    writeFile(join(assets, 'icon-ABC123.svg'), '<svg/>'),
    writeFile(join(assets, 'odd-ABC123.exe'), 'odd'),
  ]);
  harness = await startGatewayHarness({ env: { CONSOLE_DIR: folder.path } });
  const rules = [{ apiGroups: [GROUP], resources: ['workflowruns'], verbs: ['list'] }];
  const { client, api } = harness;
  await (await createUser(client, api.connection, { namespace: NAMESPACE, name: 'ada', rules })).close();
  token = await tokenOf(client, NAMESPACE, 'ada');
});
afterAll(async () => {
  await harness?.close();
  folder?.remove();
});

/** Without what `fetch` adds and decodes. */
function raw(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>(
    (resolve, reject) => {
      const { hostname, port } = new URL(harness.gateway.internalURL);
      const asked = request({ hostname, port, path, method, headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
        );
      });
      asked.on('error', reject).end();
    },
  );
}

test.each(['/console/', '/console/p/shop/workflows/orders?node=a', '/console/p/shop.js', '/console/assetsX'])(
  '%s is the page, which nobody can frame and in which nothing foreign runs',
  async (path) => {
    const { status, headers, body } = await raw(path);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin-allow-popups',
    });
    const [, nonce = '', again = ''] = NONCES.exec(body.toString()) ?? [];
    expect(again).toBe(nonce);
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types default`,
    );
    const [, next] = NONCES.exec((await raw(path)).body.toString()) ?? [];
    expect([next?.length, next === nonce]).toEqual([24, false]);
  },
);

test('/console redirects to /console/, and HEAD returns only headers', async () => {
  const { status, headers } = await raw('/console');
  expect([status, headers['location']]).toEqual([302, '/console/']);
  for (const path of ['/console', '/console/', '/console/assets/main-ABC123.js']) {
    const [head, get] = [await raw(path, {}, 'HEAD'), await raw(path)];
    expect([head.status, head.body.length, head.headers['content-length']]).toEqual([
      get.status,
      0,
      get.headers['content-length'],
    ]);
    const post = await raw(path, {}, 'POST');
    expect([post.status, post.headers['allow']]).toEqual([405, 'GET, HEAD']);
  }
});

test.each([
  ['br, gzip', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP', 'gzip'],
  ['br;q=0, gzip;q=0.5', 'gzip'],
  ['identity', undefined],
  ['', undefined],
])('with Accept-Encoding "%s" a part comes in %s', async (accepted, coding) => {
  const answer = await raw(
    '/console/assets/main-ABC123.js',
    accepted === '' ? {} : { 'accept-encoding': accepted },
  );
  const { 'content-encoding': encoding, 'content-type': type, vary } = answer.headers;
  expect([encoding, type, vary]).toEqual([coding, 'text/javascript; charset=utf-8', 'accept-encoding']);
  expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  const made = { br: brotliCompressSync(SCRIPT), gzip: gzipSync(SCRIPT), none: Buffer.from(SCRIPT) };
  expect(answer.body.equals(made[(coding ?? 'none') as 'br'])).toBe(true);
});

test('an uncompressed asset is sent as it is', async () => {
  const { status, headers, body } = await raw('/console/assets/icon-ABC123.svg', { 'accept-encoding': 'br' });
  expect([status, headers['content-encoding'], headers['content-type'], body.toString()]).toEqual([
    200,
    undefined,
    'image/svg+xml',
    '<svg/>',
  ]);
});

test.each([
  'no-such.js',
  'odd-ABC123.exe',
  'main-ABC123.js.br',
  '',
  '../secret.txt',
  '..%2fsecret.txt',
  '%2e%2e/secret.txt',
  '..\\secret.txt',
  '.hidden.js',
  'a/b.js',
  '%00.js',
])('the asset "%s" is not there', async (name) => {
  const { status, body } = await raw(`/console/assets/${name}`);
  expect([status, body.includes('not an asset')]).toEqual([404, false]);
});

test('a gateway without the files, or without a console, answers 404', async () => {
  const common = {
    kubeconfigPath: harness.api.kubeconfigPath,
    redisURL: harness.redis.url,
    pod: 'gateway-bare',
    namespace: NAMESPACE,
  };
  const bare = await startGateway({ ...common, env: { CONSOLE_DIR: '/no/such' } });
  try {
    const answer = await fetch(`${bare.internalURL}/console/`);
    expect([answer.status, await answer.text()]).toEqual([
      404,
      expect.stringMatching(/^The console's files are missing: .*\/no\/such/),
    ]);
    expect((await visit(bare.internalURL).signIn(token)).status).toBe(200);
  } finally {
    await bare.stop();
  }
  const off = await startGateway({ ...common, env: { CONSOLE_ENABLED: 'false', CONSOLE_DIR: folder.path } });
  try {
    for (const path of [
      '/console',
      '/console/',
      '/console/session',
      '/console/links',
      '/kube/api/v1/namespaces',
      '/console/projects',
    ])
      expect([
        path,
        (await fetch(off.internalURL + path, { headers: { authorization: `Bearer ${token}` } })).status,
      ]).toEqual([path, 404]);
  } finally {
    await off.stop();
  }
});

async function makeLink(bearer = token): Promise<{ url: string; expires: string }> {
  const answer = await fetch(`${harness.gateway.internalURL}/console/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}` },
  });
  expect(answer.status).toBe(201);
  return (await answer.json()) as { url: string; expires: string };
}

/** What the browser sends when the button of the page is pressed. */
const BUTTON = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };

test('a link signs in once: opening it does not use it up, the button does', async () => {
  const { url, expires } = await makeLink();
  expect(url.startsWith(`${harness.gateway.internalURL}/console/link/`)).toBe(true);
  expect(Math.abs(Date.parse(expires) - Date.now() - 600_000)).toBeLessThan(10_000);
  const person = visit(harness.gateway.internalURL);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const page = await person.call(url, { headers: {} });
    expect([page.status, page.headers.getSetCookie()]).toEqual([200, []]);
    expect(page.headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/);
    expect(await page.text()).toContain(`ada (service account of ${NAMESPACE})`);
  }
  const answer = await person.call(url, { method: 'POST', headers: BUTTON });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/']);
  expect(await (await person.call('/console/session')).json()).toMatchObject({ signedIn: true });
  const late = visit(harness.gateway.internalURL);
  for (const method of ['GET', 'POST'])
    expect([method, (await late.call(url, { method, headers: BUTTON })).status]).toEqual([method, 404]);
  expect(late.cookies()).toBe('');
});

test('following a link ends the previous session of the browser', async () => {
  const person = visit(harness.gateway.internalURL);
  await person.signIn(token);
  const copy = visit(harness.gateway.internalURL);
  copy.take(person.cookies());
  const { url } = await makeLink();
  expect((await person.call(url, { method: 'POST', headers: BUTTON })).status).toBe(303);
  const sessionOf = async (visitor: typeof person) => (await visitor.call('/console/session')).json();
  expect(await sessionOf(person)).toMatchObject({ signedIn: true });
  expect(await sessionOf(copy)).toMatchObject({ signedIn: false });
});

test('every answer has nosniff, 404 too', async () => {
  for (const path of [
    '/console/',
    '/console',
    '/console/assets/none.js',
    '/console/link/none',
    '/console/session',
    '/kube/api',
  ])
    expect([
      path,
      (await fetch(harness.gateway.internalURL + path, { redirect: 'manual' })).headers.get(
        'x-content-type-options',
      ),
    ]).toEqual([path, 'nosniff']);
});

test('concurrent uses of a link sign in one browser', async () => {
  const { url } = await makeLink();
  const people = Array.from({ length: 20 }, () => visit(harness.gateway.internalURL));
  const answers = await Promise.all(
    people.map((person) => person.call(url, { method: 'POST', headers: BUTTON })),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    303,
    ...Array.from({ length: 19 }, () => 404),
  ]);
  expect(people.filter((person) => person.cookies() !== '')).toHaveLength(1);
});

test.each<[string, Record<string, string>]>([
  ['another site', { ...BUTTON, 'sec-fetch-site': 'cross-site' }],
  ['another origin', { origin: 'https://evil.example' }],
  ['nobody says where', {}],
])('%s cannot press the button, and does not use the link up', async (_who, headers) => {
  const { url } = await makeLink();
  const person = visit(harness.gateway.internalURL);
  const answer = await person.call(url, { method: 'POST', headers });
  expect([answer.status, person.cookies()]).toEqual([403, '']);
  expect((await person.call(url, { method: 'POST', headers: BUTTON })).status).toBe(303);
});

test('the run store reveals neither link nor token', async () => {
  const { url } = await makeLink();
  const secret = url.split('/').at(-1) ?? '';
  const cli = (...args: string[]) => runCommand('redis-cli', ['-p', String(harness.redis.port), ...args]);
  const keys = (await cli('--scan', '--pattern', 'wl:console:link:*')).trim().split('\n');
  const values = await Promise.all(keys.map((key) => cli('get', key)));
  expect(values.length).toBeGreaterThan(0);
  for (const text of [...keys, ...values].map((line) => line.trim())) {
    const read = text + Buffer.from(text, 'base64url').toString('latin1');
    expect([read.includes(secret), read.includes(token.split('.')[1]?.slice(0, 30) ?? '')]).toEqual([
      false,
      false,
    ]);
  }
});

test.each([
  ['no token', undefined, 401, 'unauthorized'],
  ['garbage', () => 'garbage', 401, 'token-refused'],
  [
    'a token for Windlass alone',
    () => tokenOf(harness.client, NAMESPACE, 'ada', { audiences: ['windlass'] }),
    401,
    'token-refused',
  ],
])('with %s there is no link', async (_what, make, status, problem) => {
  const authorization = make && `Bearer ${await make()}`;
  const headers = {
    ...(authorization !== undefined && { authorization }),
    'x-windlass-console': '1',
    'sec-fetch-site': 'same-origin',
  };
  const person = visit(harness.gateway.internalURL);
  await person.signIn(token);
  // A session makes no link: it would outlive a sign-out.
  const answer = await person.call('/console/links', { method: 'POST', headers });
  const { type } = (await answer.json()) as { type: string };
  expect([answer.status, type.replace(/^.*problem\//, '')]).toEqual([status, problem]);
});

test('a link grants no more than its token', async () => {
  await harness.client.create(serviceAccounts, { metadata: { namespace: NAMESPACE, name: 'leaver' } });
  const { url } = await makeLink(await tokenOf(harness.client, NAMESPACE, 'leaver'));
  await harness.client.delete(serviceAccounts, { namespace: NAMESPACE, name: 'leaver' });
  // The gateway remembers for some seconds whose token it was.
  const again = await startGateway({
    kubeconfigPath: harness.api.kubeconfigPath,
    redisURL: harness.redis.url,
    pod: 'gateway-again',
    namespace: NAMESPACE,
  });
  try {
    const person = visit(again.internalURL);
    const answer = await person.call(new URL(url).pathname, { method: 'POST', headers: BUTTON });
    expect([answer.status, person.cookies()]).toEqual([404, '']);
  } finally {
    await again.stop();
  }
});

test('the number of links is limited', async () => {
  await harness.client.create(serviceAccounts, { metadata: { namespace: NAMESPACE, name: 'busy' } });
  const busy = await tokenOf(harness.client, NAMESPACE, 'busy');
  for (let made = 0; made < MAX_SIGN_IN_LINKS; made += 1) await makeLink(busy);
  const headers = { authorization: `Bearer ${busy}` };
  const answer = await fetch(`${harness.gateway.internalURL}/console/links`, { method: 'POST', headers });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '60']);
  await makeLink();
});
