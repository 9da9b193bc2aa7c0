/** Registrations of where the updates of bots are sent, on their way between the operator and the runners of a project. */
import type { CredentialSpec } from '../../api/credential.ts';
import { registrationResult, type Registered, type RegistrationResult } from '../../api/registration.ts';
import { defineQuestions, type Answer, type Seen } from './requests.ts';

/** What is to be registered. The secret is in none: who registers makes it of the bot's token. */
export type RegistrationRequest = {
  /** Names what is to be: the bot, the state of its Secrets, and where its updates are to be sent. */
  key: string;
  /** The credential's name. */
  name: string;
  spec: CredentialSpec;
  /** Where the updates are to be sent; left out: not to us. */
  url?: string;
  /** Where they were sent before by us: whatever else is found is somebody else's. */
  ours: readonly string[];
  /** What is to be was so when somebody last looked: another state is somebody else's work. */
  wasSo: boolean;
  /** What was registered last, and not taken back; left out: the bot begins now, and what was written to it before starts nothing. */
  registered?: Registered;
  /** How often in a row it has failed before. */
  failures: number;
};

export type RegistrationAnswer = Answer<RegistrationResult>;
export type SeenRegistration = Seen<RegistrationResult>;

export const REGISTRATIONS = defineQuestions<RegistrationRequest, RegistrationResult>({
  list: 'registrations',
  item: 'registration',
  result: registrationResult,
});
