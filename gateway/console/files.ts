/**
 * Serves the console's files: one page for every path below `/console/`, with a fresh nonce, and its assets,
 * whose names change with their content.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createAnswers, type Answers, type Exchange } from '../http/answers.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import type { ConsoleSettings } from '../endpoint/deps.ts';
import { addRoute } from '../endpoint/route.ts';

const PLACEHOLDER = '__NONCE__';
const HTML = 'text/html; charset=utf-8';
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};
/** In order of preference. */
const CODINGS = [
  { coding: 'br', suffix: '.br' },
  { coding: 'gzip', suffix: '.gz' },
];

export function addConsoleFiles(app: FastifyInstance, deps: GatewayDeps, { dir }: ConsoleSettings): void {
  const answers = createAnswers(deps, 'console');
  const add = (url: string, handle: (exchange: Exchange) => Promise<void>): void =>
    addRoute(app, answers, url, { GET: { handle }, HEAD: { handle } });
  add('/console', async ({ reply }) => {
    reply.headers({ location: '/console/', 'cache-control': 'no-store' });
    answers.send(reply, 302, 'text/plain', '');
  });
  add('/console/assets/*', ({ request, reply }) => sendAsset(answers, dir, request, reply));
  add('/console/*', ({ reply }) => sendPage(answers, dir, reply));
}

async function sendPage(answers: Answers, dir: string, reply: FastifyReply): Promise<void> {
  const template = await readIfThere(join(dir, 'index.html'));
  reply.headers({
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin-allow-popups',
  });
  if (template === undefined) {
    const text = `The console's files are missing: no index.html in ${dir} (CONSOLE_DIR). The image of Windlass has them in /app/console.\n`;
    return answers.send(reply, 404, 'text/plain; charset=utf-8', text);
  }
  const nonce = randomBytes(18).toString('base64url');
  reply.header('content-security-policy', policyWith(nonce));
  answers.send(reply, 200, HTML, template.toString('utf8').replaceAll(PLACEHOLDER, nonce));
}

/**
 * Only our scripts, nothing from other hosts, no embedding; strings become HTML through one function of ours
 * (Trusted Types).
 */
function policyWith(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join('; ');
}

async function sendAsset(
  answers: Answers,
  dir: string,
  { params, headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { '*': name } = params as { '*': string };
  const type = TYPES[extname(name)];
  // A plain file name, never a path.
  const isName = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(name);
  const found =
    type !== undefined && isName ? await readCoded(join(dir, 'assets', name), headers) : undefined;
  if (found === undefined || type === undefined) return answers.problem(reply, 'not-found');
  reply.headers({
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
    ...(found.coding !== undefined && { 'content-encoding': found.coding }),
  });
  answers.send(reply, 200, type, found.bytes);
}

type Coded = { bytes: Buffer; coding?: string };

/** The file in the best coding that the browser accepts and that exists; undefined if there is none. */
async function readCoded(path: string, headers: FastifyRequest['headers']): Promise<Coded | undefined> {
  const accepted = acceptedCodings(headers['accept-encoding']);
  for (const { coding, suffix } of CODINGS) {
    const bytes = accepted.has(coding) ? await readIfThere(path + suffix) : undefined;
    if (bytes !== undefined) return { bytes, coding };
  }
  const bytes = await readIfThere(path);
  return bytes && { bytes };
}

/** The codings that an Accept-Encoding header accepts (RFC 9110, section 12.5.3). */
function acceptedCodings(header: string | string[] | undefined): Set<string> {
  const accepted = new Set<string>();
  for (const part of String(header ?? '')
    .toLowerCase()
    .split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim());
    if (!parameters.some((text) => /^q=0(\.0*)?$/.test(text))) accepted.add(coding);
  }
  return accepted;
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(code)) return undefined;
    throw error;
  }
}
