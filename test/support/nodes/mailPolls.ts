/** One poll at a mail account, as the poll pod would make it. */
import type { CredentialSpec } from '../../../api/credential.ts';
import { StepError } from '../../../api/reasons.ts';
import type { MailTrigger } from '../../../api/trigger.ts';
import { mailPoller } from '../../../nodes/triggers/mail.ts';
import type { PollContext, Polled } from '../../../nodes/contract/poller.ts';
import { Secret } from '../../../nodes/contract/secret.ts';
import { createKnownItems } from './knownItems.ts';
import { localEgress } from './stepContext.ts';

export type Poll = Polled;

type Options = {
  cursor: unknown;
  fields?: Partial<MailTrigger>;
  context?: Partial<PollContext>;
  since?: Date | undefined;
};

/**
 * `secrets`: what there is, by its key, `access_token` for that of an account; all else is missing. The
 * cursor goes through JSON, as it does between two polls.
 */
export function pollMailOnce(
  spec: CredentialSpec,
  secrets: Record<string, string>,
  { cursor, fields = {}, context = {}, since }: Options,
): Promise<Poll> {
  const credential = {
    name: 'mail',
    spec,
    secret: ({ name, key }: { name: string; key: string }) => {
      // The operator keeps the tokens of all accounts in a Secret of its own.
      const value = secrets[name.startsWith('windlass-') ? 'access_token' : key];
      if (value === undefined)
        throw new StepError('CredentialMissing', `the Secret ${name} has no key ${key}`);
      return new Secret(value);
    },
  };
  const whole: PollContext = {
    credential: async () => credential,
    egress: localEgress,
    signal: new AbortController().signal,
    enough: new AbortController().signal,
    limit: 100,
    maxEventBytes: 524_288,
    maxBytes: 4_194_304,
    knownItems: createKnownItems(),
    log: { info: () => undefined, warn: () => undefined },
    ...context,
  };
  const kept: unknown = cursor === undefined ? undefined : JSON.parse(JSON.stringify(cursor));
  return mailPoller.poll({ credential: 'mail', ...fields }, kept, whole, since);
}
