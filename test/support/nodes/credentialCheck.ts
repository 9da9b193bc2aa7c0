/** A fake provider for credential checks, whose answers tests choose. */
import { afterAll, beforeEach } from 'vitest';
import type { CredentialSpec } from '../../../api/credential.ts';
import { checkCredential } from '../../../nodes/checks.ts';
import { Secret } from '../../../nodes/contract/secret.ts';
import type { Handler } from './httpTarget.ts';
import { listen, sendJson } from '../network/listen.ts';
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

/** Call it once in a test file; the server is closed after its tests. */
export async function startProvider() {
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
    /** The requests of this test. */
    seen,
    handle: (next: Handler): void => {
      handler = next;
    },
    answer: (status: number, body: unknown, headers = {}): void => {
      handler = (_request, response) => sendJson(response, status, body, headers);
    },
  };
}
