/**
 * What steps can reach, seen from the destination: listeners inside of what is forbidden count who comes.
 * 127.0.0.2 plays the Internet, and 127.0.0.1 and ::1, at the same port, what is inside.
 */
import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { StepError } from '../../api/reasons.ts';
import { executeAgent } from '../../nodes/agent/agent.ts';
import { createEgress } from '../../nodes/egress/egress.ts';
import { parseEgressRules } from '../../nodes/egress/rules.ts';
import { findSkill } from '../../nodes/register.ts';
import { startNameServer } from '../support/network/nameServer.ts';
import { stepContext } from '../support/nodes/stepContext.ts';

const names = await startNameServer();
let inside = 0;
let outside: string[] = [];
let location = '/';

const internet = createServer((request, response) => {
  outside.push(request.url ?? '');
  if (request.url?.startsWith('/redirect')) response.writeHead(307, { location }).end();
  else response.writeHead(200).end('outside');
});
const port = await listenAt(internet, '127.0.0.2', 0);
const listeners = await Promise.all(
  ['127.0.0.1', '::1'].map(async (host) => {
    const listener = createTcpServer((socket) => {
      inside += 1;
      socket.destroy();
    });
    await listenAt(listener, host, port);
    return listener;
  }),
);
afterAll(() => {
  names.close();
  for (const server of [internet, ...listeners]) server.close();
  internet.closeAllConnections();
});
beforeEach(() => {
  inside = 0;
  outside = [];
  location = '/';
  names.answers.clear();
  names.asked.clear();
});
afterEach(() => {
  if (inside > 0) throw new Error(`${inside} connections reached the inside`);
});

async function listenAt(server: Server | HttpServer, host: string, at: number): Promise<number> {
  server.listen(at, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const resolved = createEgress(parseEgressRules(['127.0.0.2'], []), names.lookup);
const ofSystem = createEgress(parseEgressRules(['127.0.0.2'], []));

/** How a step ends that connects there: the text that it got, or the reason of its error. */
async function outcome(step: Promise<{ output: { text_content: string } }>): Promise<string> {
  return step.then(
    ({ output }) => output.text_content,
    (error: unknown) => (error instanceof StepError ? error.reason : String(error)),
  );
}

const request = (url: string, egress = ofSystem) =>
  outcome(findSkill('http_request')!.execute({ url }, stepContext({}, { egress }), undefined));

/** Ways of writing what is inside; the system's resolver understands more than the parser of URLs. */
const HOSTS = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '2130706433',
  '0x7f.1',
  '0x7f000001',
  '0177.0.0.1',
  '017700000001',
  '0',
  '0.0.0.0',
  'localhost',
  'localhost.',
  'LOCALHOST',
  '[::1]',
  '[0:0::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:0:0]',
];

test('what is on the Internet is reached', async () => {
  expect(await request(`http://127.0.0.2:${port}/`)).toBe('outside');
});

test.each(HOSTS)('%s is reached neither by a request, a redirect, a model nor mail', async (host) => {
  expect(await request(`http://${host}:${port}/`)).toBe('AddressForbidden');
  location = `http://${host}:${port}/`;
  expect(await request(`http://127.0.0.2:${port}/redirect`)).toBe('AddressForbidden');
  const ref = { name: 's', key: 'k' };
  const model = (url: string) =>
    outcome(
      executeAgent(
        { credential: 'llm', model: 'm', prompt: 'p' },
        stepContext({ openai: { baseURL: url, apiKeyRef: ref } }, { egress: ofSystem }),
      ),
    );
  expect(await model(`http://${host}:${port}/v1`)).toBe('AddressForbidden');
  // A model's API is followed nowhere, since the prompt and the key would go with the request.
  expect(await model(`http://127.0.0.2:${port}/redirect`)).toBe('Refused');
  const smtp = { host, port, tls: 'None', from: 'a@example.com' } as const;
  const mail = { to: 'a@example.com', subject: 's', body: 'b' };
  const send = findSkill('send_email')!.execute(mail, stepContext({ smtp }, { egress: ofSystem }), 'smtp');
  // To the resolver this one is a name, and one that does not exist.
  expect(await outcome(send)).toBe(host === '127.0.0.1.' ? 'Unreachable' : 'AddressForbidden');
  expect(outside).toHaveLength(2);
});

test('a name whose next answer leads inside is asked for once, and the first answer is connected to', async () => {
  names.answers.set('rebind.test', [['127.0.0.2'], ['127.0.0.1']]);
  expect(await request(`http://rebind.test:${port}/`, resolved)).toBe('outside');
  expect(names.asked.get('rebind.test')).toBe(1);
  expect(await request(`http://rebind.test:${port}/`, resolved)).toBe('AddressForbidden');
});

test('a redirect to the same name is a new connection, for which the name is judged again', async () => {
  names.answers.set('rebind.test', [['127.0.0.2'], ['127.0.0.1']]);
  expect(await request(`http://rebind.test:${port}/redirect`, resolved)).toBe('AddressForbidden');
  expect(outside).toEqual(['/redirect']);
});

test('a name with one address inside is not connected to at all', async () => {
  names.answers.set('both.test', [['127.0.0.2', '127.0.0.1']]);
  expect(await request(`http://both.test:${port}/`, resolved)).toBe('AddressForbidden');
  expect(outside).toEqual([]);
});

test('a name that does not exist is told as such', async () => {
  expect(await request(`http://nowhere.test:${port}/`, resolved)).toBe('Unreachable');
});

test('what is allowed by its name and port is reached, and nothing beside it', async () => {
  names.answers.set('model.models.svc', [['127.0.0.2']]);
  const allowed = createEgress(parseEgressRules([`model.models.svc:${port}`], []), names.lookup);
  expect(await request(`http://Model.models.svc.:${port}/`, allowed)).toBe('outside');
  expect(await request(`http://127.0.0.2:${port}/`, allowed)).toBe('AddressForbidden');
  location = `http://127.0.0.1:${port}/`;
  expect(await request(`http://model.models.svc:${port}/redirect`, allowed)).toBe('AddressForbidden');
});
