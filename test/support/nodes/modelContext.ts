/** What a provider of models is asked with, without an agent. */
import type { CredentialSpec } from '../../../api/credential.ts';
import type { ModelContext } from '../../../nodes/contract/model.ts';
import { Secret } from '../../../nodes/contract/secret.ts';
import { localEgress } from './stepContext.ts';

/** `secret`: the value of each key of the credential. */
export function modelContext(
  spec: CredentialSpec,
  { secret = 'test-secret', ...given }: Partial<ModelContext> & { secret?: string } = {},
): ModelContext {
  return {
    credential: { name: 'llm', spec, secret: () => new Secret(secret) },
    egress: localEgress,
    signal: new AbortController().signal,
    effect: 'AtLeastOnce',
    idempotencyKey: 'run-1/agent/1',
    emitText: () => undefined,
    patience: { firstChunkMs: 5_000, idleMs: 5_000 },
    ...given,
  };
}
