import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FastifyInstance } from 'fastify';
import { PROBLEMS, PROBLEMS_OF_CONSOLE, problemType, type ProblemCode } from './problems.ts';
import { buildInternal, buildPublic } from '../server.ts';
import { CHAT_ID, createGatewayDeps } from '../../test/support/gateway/gatewayDeps.ts';
import { openApiDocument } from './document.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';

type Response = { content?: Record<string, { schema?: unknown }> };
type Paths = Record<string, Record<string, { responses: Record<string, Response>; security: object[] }>>;

const operations = Object.values<Operation>(OPERATIONS);
const { paths } = openApiDocument() as { paths: Paths };
const listeners: Record<Operation['listener'], { app: FastifyInstance; urls: Set<string> }> = {} as never;
let close: () => void;

beforeAll(async () => {
  const made = createGatewayDeps();
  close = made.close;
  for (const [name, build] of [['public', buildPublic] as const, ['internal', buildInternal] as const]) {
    const app = build(made.deps);
    const urls = new Set<string>();
    app.addHook('onRoute', ({ url }) => void urls.add(url));
    await app.ready();
    listeners[name] = { app, urls };
  }
});
afterAll(async () => {
  await Promise.all(Object.values(listeners).map(({ app }) => app.close()));
  close();
});

/** What is the console's own, and no interface for others. */
function isOfConsole(url: string): boolean {
  return /^\/(console|kube)(\/|$)/.test(url) && !operations.some(({ path }) => path === url);
}

/** As the router has it: of the address of a webhook, bot or message it takes the whole rest as one. */
function registered({ path }: Operation): string {
  return path
    .replace(/^\/(webhook|bot)\/.*$/, '/$1/*')
    .replace(/^\/chat\/.*\/messages$/, '/chat/*')
    .replaceAll(/\{(\w+)\}/g, ':$1');
}

/** An address that the operation answers at. */
function exampleOf(path: string): string {
  const values: Record<string, string> = {
    id: 'shop.orders',
    path: 'new',
    run: 'orders-1',
    credential: 'shop.helper',
    chat: CHAT_ID,
  };
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => values[name] ?? name);
}

test.each(['public', 'internal'] as const)(
  'every route of the %s listener is in the contract, and every operation has a route',
  (listener) => {
    const described = operations.filter((operation) => operation.listener === listener).map(registered);
    const urls = [...listeners[listener].urls].filter((url) => !isOfConsole(url));
    expect(urls.toSorted()).toEqual([...new Set(described)].toSorted());
  },
);

test.each(Object.keys(paths))('%s allows exactly the methods of the contract', async (path) => {
  const described = operations.filter((operation) => operation.path === path);
  const methods = described.map(({ method }) => method);
  const { app } = listeners[described[0]?.listener ?? 'internal'];
  const others = app.supportedMethods.filter((method) => !methods.some((known) => known === method));
  expect(others.length).toBeGreaterThan(10);
  for (const method of others) {
    const answer = await app.inject({ method: method as 'GET', url: exampleOf(path) });
    expect([method, answer.statusCode, answer.headers.allow]).toEqual([method, 405, methods.join(', ')]);
  }
});

test('operations that need a token declare it and its problems', () => {
  for (const { path, method, right, anyToken } of operations) {
    const { security, responses } = paths[path]?.[method.toLowerCase()] ?? { security: [], responses: {} };
    const refusals = ['401', '403', '429', '503'].filter((status) => status in responses);
    const least = right === undefined ? (anyToken ? 3 : undefined) : 4;
    expect([path, security.length, refusals.length >= (least ?? 4)]).toEqual(
      least === undefined ? [path, 0, false] : [path, 1, true],
    );
  }
});

test('every problem is part of an operation, with its status', () => {
  const described = new Map<string, Set<string>>();
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path)))
    for (const [status, { content = {} }] of Object.entries(operation.responses)) {
      const { schema } = content['application/problem+json'] ?? {};
      const types = (schema as { properties: { type: { enum: string[] } } } | undefined)?.properties.type
        .enum;
      for (const type of types ?? []) described.set(type, new Set([...(described.get(type) ?? []), status]));
    }
  const codes = (Object.keys(PROBLEMS) as ProblemCode[]).filter(
    (code) => !PROBLEMS_OF_CONSOLE.includes(code),
  );
  const registeredTypes = codes.map(
    (code) => [problemType(code), new Set([String(PROBLEMS[code].status)])] as const,
  );
  expect(described).toEqual(new Map(registeredTypes));
});

test('the contract needs no token, and a cached version gets 304', async () => {
  const { app } = listeners.internal;
  const answer = await app.inject('/openapi.json');
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(answer.json()).toEqual(openApiDocument());
  const tag = String(answer.headers.etag);
  for (const cached of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const again = await app.inject({ url: '/openapi.json', headers: { 'if-none-match': cached } });
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', tag]);
  }
  const other = await app.inject({ url: '/openapi.json', headers: { 'if-none-match': '"other"' } });
  expect(other.statusCode).toBe(200);
});
