/**
 * Looks at a store of files, as the poll pod would make them one after the other: cursor and known items continue.
 */
import type { CredentialSpec } from '../../../api/credential.ts';
import { StepError } from '../../../api/reasons.ts';
import type { FileStorageTrigger } from '../../../api/trigger.ts';
import { filePoller } from '../../../nodes/triggers/files/poller.ts';
import type { PollContext, Polled } from '../../../nodes/contract/poller.ts';
import { Secret } from '../../../nodes/contract/secret.ts';
import { createKnownItems } from './knownItems.ts';
import { localEgress } from './stepContext.ts';

/** `secrets`: what there is, by its key, `access_token` for that of an account; all else is missing. */
export function filePolls(
  spec: CredentialSpec,
  secrets: Record<string, string>,
  fields: Partial<FileStorageTrigger> = {},
) {
  const credential = {
    name: 'files',
    spec,
    secret: ({ name, key }: { name: string; key: string }) => {
      const value = secrets[name.startsWith('windlass-') ? 'access_token' : key];
      if (value === undefined)
        throw new StepError('CredentialMissing', `the Secret ${name} has no key ${key}`);
      return new Secret(value);
    },
  };
  const memory = createKnownItems();
  let kept = 0;
  let cursor: unknown;
  return {
    /** One poll; what it brings counts from then on. */
    poll: async (context: Partial<PollContext> = {}, since?: Date): Promise<Polled> => {
      const whole: PollContext = {
        credential: async () => credential,
        egress: localEgress,
        signal: new AbortController().signal,
        enough: new AbortController().signal,
        limit: 100,
        maxEventBytes: 524_288,
        maxBytes: 4_194_304,
        knownItems: {
          read: () => memory.read(),
          store: (bytes) => {
            kept += 1;
            return memory.store(bytes);
          },
        },
        log: { info: () => undefined, warn: () => undefined },
        ...context,
      };
      const polled = await filePoller.poll({ credential: 'files', ...fields }, cursor, whole, since);
      // It goes through JSON between two polls.
      cursor = JSON.parse(JSON.stringify(polled.cursor));
      return polled;
    },
    /** Makes the next poll begin where another one ended. */
    goBackTo: (earlier: unknown) => void (cursor = earlier),
    /** How often something was kept. */
    kept: () => kept,
    memory,
  };
}

type Shown = { event: string; file: Record<string, unknown> };

/** What the events of a poll show. */
export function shownIn({ events }: Polled): Shown[] {
  return events.map(({ output }) => output.data_content as Shown);
}

/** The events of a poll in short: `added reports/a.txt`. */
export function inShort(polled: Polled): string[] {
  return shownIn(polled).map(({ event, file }) => `${event} ${String(file['id'])}`);
}
