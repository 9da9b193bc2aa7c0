/** Requests of the operator to register or remove the webhook of a bot. */
import type { CredentialSpec } from '../../api/credential.ts';
import { registrationResult, type Registered, type RegistrationResult } from '../../api/registration.ts';
import { defineRequests, type Answer, type Seen } from './requests.ts';

/** A registration. It contains no secret: the runner derives it from the bot's token. */
export type RegistrationRequest = {
  /** Identifies the bot, the state of its Secrets, and the URL. */
  key: string;
  /** The credential's name. */
  name: string;
  spec: CredentialSpec;
  /** Where updates are to be sent; left out: the webhook is to be removed. */
  url?: string;
  /** URLs that we registered before. A webhook with another URL belongs to somebody else. */
  ours: readonly string[];
  /** The last check found the desired state: if it changed, somebody else changed it. */
  wasSo: boolean;
  /**
   * The last registration that was not removed; left out: the bot is new, and older messages to it start no
   * runs.
   */
  registered?: Registered;
  /** Failures in a row before this request. */
  failures: number;
};

export type RegistrationAnswer = Answer<RegistrationResult>;
export type SeenRegistration = Seen<RegistrationResult>;

export const REGISTRATIONS = defineRequests<RegistrationRequest, RegistrationResult>({
  list: 'registrations',
  item: 'registration',
  result: registrationResult,
});
