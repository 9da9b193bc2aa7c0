/** Another side that credentials are tried at, whose answers tests say. */
import { afterAll, beforeEach } from 'vitest';
import type { CredentialSpec } from '../../api/credential.ts';
import { checkCredential } from '../../nodes/checks.ts';
import { Secret } from '../../nodes/secret.ts';
import type { Handler } from './httpTarget.ts';
import { listen, sendJson } from './listen.ts';
import { localEgress } from './stepContext.ts';

/** The secret of every credential, unless a test names another one for its key. */
export const KEY = 'correct-horse/battery+staple';
export const WRONG = { works: false, reason: 'Rejected' };
export const signal = new AbortController().signal;

export const ref = (key: string) => ({ name: 'account', key });

export const accessTo = (spec: CredentialSpec, secrets: Record<string, string>) => ({
  name: 'account',
  spec,
  secret: ({ key }: { key: string }) => new Secret(secrets[key] ?? KEY),
});

export const check = (spec: CredentialSpec, secrets: Record<string, string> = {}, egress = localEgress) =>
  checkCredential(accessTo(spec, secrets), { egress, signal });

/** To be called once in a file of tests, after which the server goes. */
export async function startOtherSide() {
  let handler: Handler;
  const seen: string[] = [];
  const server = await listen((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    handler(request, response);
  });
  beforeEach(() => {
    seen.length = 0;
  });
  afterAll(() => server.close());
  return {
    url: server.url,
    /** What this test has asked of it. */
    seen,
    handle: (next: Handler): void => {
      handler = next;
    },
    answer: (status: number, body: unknown, headers = {}): void => {
      handler = (_request, response) => sendJson(response, status, body, headers);
    },
  };
}
