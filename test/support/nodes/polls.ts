/**
 * Polls of one account in this process, one after the other: cursor and known items continue, as between the
 * polls of a poll pod.
 */
import type { CredentialSpec } from '../../../api/credential.ts';
import { StepError } from '../../../api/reasons.ts';
import type { FileStorageTrigger, MailTrigger } from '../../../api/trigger.ts';
import type { CredentialAccess } from '../../../nodes/contract/node.ts';
import type { KnownItems, PollContext, Polled, Poller } from '../../../nodes/contract/poller.ts';
import { Secret } from '../../../nodes/contract/secret.ts';
import { filePoller } from '../../../nodes/triggers/files/poller.ts';
import { mailPoller } from '../../../nodes/triggers/mail.ts';
import { localEgress } from './stepContext.ts';

export type Polls = {
  /** One poll. Its cursor and known items are in force from then on. */
  poll: (context?: Partial<PollContext>, since?: Date) => Promise<Polled>;
  /** Polls until nothing more is waiting. The result is that of the last poll, with the events of all. */
  pollAll: (context?: Partial<PollContext>) => Promise<Polled>;
  /** The next poll starts from this cursor. Known items stay. */
  goBackTo: (cursor: unknown) => void;
  state(): Promise<PollState>;
  /** The next poll finds this state, as after a poll that was killed. */
  restore(state: PollState): void;
  knownItems: KnownItems;
  /** How often known items were stored. */
  stored: () => number;
};

type PollState = { cursor: unknown; bytes: Buffer | undefined };

type Account = {
  spec: CredentialSpec;
  /** By key; `access_token` is the token of a connected account. Every other key is missing. */
  secrets: Record<string, string>;
};

export function createPolls<T>(poller: Poller<T>, trigger: T, account: Account): Polls {
  let [cursor, stored]: [unknown, number] = [undefined, 0];
  let bytes: Buffer | undefined;
  const knownItems: KnownItems = {
    read: async () => bytes,
    store: async (given) => {
      stored += 1;
      bytes = given;
    },
  };
  const poll = async (context: Partial<PollContext> = {}, since?: Date): Promise<Polled> => {
    const polled = await poller.poll(trigger, cursor, contextOf(account, { knownItems, ...context }), since);
    cursor = throughJSON(polled.cursor);
    return polled;
  };
  return {
    poll,
    pollAll: async (context) => {
      const events: Polled['events'][number][] = [];
      for (;;) {
        const polled = await poll(context);
        events.push(...polled.events);
        if (!polled.more) return { ...polled, events };
      }
    },
    goBackTo: (earlier) => void (cursor = earlier),
    state: async () => ({ cursor, bytes }),
    restore: (state) => void ({ cursor, bytes } = state),
    knownItems,
    stored: () => stored,
  };
}

function contextOf({ spec, secrets }: Account, context: Partial<PollContext>): PollContext {
  const credential: CredentialAccess = {
    name: 'account',
    spec,
    secret: ({ name, key }) => {
      // The operator stores the tokens of all connected accounts in a Secret of its own.
      const value = secrets[name.startsWith('windlass-') ? 'access_token' : key];
      if (value === undefined)
        throw new StepError('CredentialMissing', `the Secret ${name} has no key ${key}`);
      return new Secret(value);
    },
  };
  return {
    credential: async () => credential,
    egress: localEgress,
    signal: new AbortController().signal,
    enough: new AbortController().signal,
    limit: 100,
    maxEventBytes: 524_288,
    maxBytes: 4_194_304,
    knownItems: { read: async () => undefined, store: async () => undefined },
    log: { info: () => undefined, warn: () => undefined },
    ...context,
  };
}

/** A cursor is stored as JSON between two polls. */
function throughJSON(cursor: unknown): unknown {
  return cursor === undefined ? undefined : (JSON.parse(JSON.stringify(cursor)) as unknown);
}

type MailPollOptions = {
  cursor: unknown;
  fields?: Partial<MailTrigger>;
  context?: Partial<PollContext>;
  since?: Date | undefined;
};

/** One poll of a mail account, from this cursor. */
export function pollMail(
  spec: CredentialSpec,
  secrets: Record<string, string>,
  { cursor, fields = {}, context = {}, since }: MailPollOptions,
): Promise<Polled> {
  const trigger = { credential: 'account', ...fields };
  return mailPoller.poll(trigger, throughJSON(cursor), contextOf({ spec, secrets }, context), since);
}

/** Polls of a file store. */
export function filePolls(
  spec: CredentialSpec,
  secrets: Record<string, string>,
  fields: Partial<FileStorageTrigger> = {},
): Polls {
  return createPolls(filePoller, { credential: 'account', ...fields }, { spec, secrets });
}

type FileEvent = { event: string; file: Record<string, unknown> };

/** The data of the events of a file trigger. */
export function fileEventsOf({ events }: Polled): FileEvent[] {
  return events.map(({ output }) => output.data_content as FileEvent);
}

/** The events of a file trigger in short: `added reports/a.txt`. */
export function fileEventNames(polled: Polled): string[] {
  return fileEventsOf(polled).map(({ event, file }) => `${event} ${String(file['id'])}`);
}

/** Polls until nothing more is waiting. Returns the events of the file trigger in short. */
export async function pollFileEvents(
  poll: Polls['poll'],
  context: Partial<PollContext> = {},
): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const polled = await poll(context);
    names.push(...fileEventNames(polled));
    if (!polled.more) return names;
  }
}
