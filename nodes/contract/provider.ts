/**
 * The contract of providers: which credentials lead to a provider, and what it offers to triggers, skills and
 * checks. Offers are loaded on first use.
 */
import type { CredentialKind, CredentialSpec, Platform } from '../../api/credential.ts';
import type { Preset } from '../../api/provider.ts';
import type { MailTrigger } from '../../api/trigger.ts';
import type { Check } from './check.ts';
import type { ModelProvider } from './model.ts';
import type { OpenSource } from './source.ts';
import type { OpenStore } from './store.ts';
import type { Messenger, ReadMessage } from './messenger.ts';
import type { CredentialAccess } from './node.ts';
import type { PollContext, Polled } from './poller.ts';
import type { OpenBook } from './book.ts';

type Load<T> = () => Promise<T>;

/** Polls the mail of an account. Throws a PollError, a Failure or a StepError. */
export type PollMail = (
  credential: CredentialAccess,
  trigger: MailTrigger,
  cursor: unknown,
  context: PollContext,
  since?: Date,
) => Promise<Polled>;

/**
 * What may need scopes: the kind of a trigger or the name of a skill, and cases of these that need others.
 */
export type ScopeUse = string;

export type Provider = {
  /** The kinds of credentials that can lead to it. */
  credentials: readonly CredentialKind[];
  /** How messages name these credentials. */
  title: string;
  /** Whether the credential leads to it. A token is shown to no other provider. */
  serves(spec: CredentialSpec): boolean;

  /** Files for triggers, and for the skills that read and write them. */
  files?: Load<OpenSource>;
  store?: Load<OpenStore>;
  spreadsheet?: Load<OpenBook>;
  mail?: Load<PollMail>;
  messenger?: Load<Messenger>;
  /** Language models for agents. */
  model?: Load<ModelProvider>;
  /** Messages that the platform sends to bots. */
  bot?: { platform: Platform; read: ReadMessage };

  check?: Load<Check>;
  /** Whether the credential can be checked. Default: each can. */
  canCheck?(spec: CredentialSpec): boolean;

  /** For accounts that are connected in the browser. */
  oauth2?: { preset: Preset; scopes: Readonly<Record<ScopeUse, readonly string[]>> };
};
