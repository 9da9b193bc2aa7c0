/** A context in which tests execute one step without a run store or a cluster. */
import type { CredentialSpec } from '../../../api/credential.ts';
import { StepError } from '../../../api/reasons.ts';
import { createEgress } from '../../../nodes/egress/egress.ts';
import { parseEgressRules } from '../../../nodes/egress/rules.ts';
import type { StepContext } from '../../../nodes/contract/node.ts';
import { Secret } from '../../../nodes/contract/secret.ts';

export type TestContext = StepContext & { texts: string[] };

/** What tests start is on this machine. */
export const localEgress = createEgress(parseEgressRules(['127.0.0.0/8', '::1'], []));

/**
 * The secret of every key is `test-secret` unless `secrets` holds another. Texts that are shown gather in
 * `texts`.
 */
export function stepContext(
  spec: CredentialSpec,
  { secrets = {}, ...rest }: Partial<StepContext> & { secrets?: Record<string, string> } = {},
): TestContext {
  const texts: string[] = [];
  return {
    run: { name: 'run-1', workflow: 'orders', node: 'step', test: false, acceptedAt: Date.UTC(2027, 0, 15) },
    credential: async (name) => {
      if (name === 'missing') throw new StepError('CredentialMissing', 'there is no credential missing');
      return { name, spec, secret: ({ key }) => new Secret(secrets[key] ?? 'test-secret') };
    },
    egress: localEgress,
    signal: new AbortController().signal,
    effect: 'AtLeastOnce',
    effectKey: 'run-1/step/1',
    isSeen: async (keys) => keys.map(() => false),
    emitText: (text) => texts.push(text),
    log: { info: () => undefined, warn: () => undefined },
    texts,
    ...rest,
  };
}
