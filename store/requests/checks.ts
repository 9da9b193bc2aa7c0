/** Checks of credentials on their way between the operator and the runners of a project. */
import { checkResult, type CheckResult } from '../../api/check.ts';
import type { CredentialSpec } from '../../api/credential.ts';
import { defineQuestions, type Answer, type Seen, type Taken } from './requests.ts';

/** What is to be tried. */
export type CheckRequest = {
  /** Names what is tried: the spec, and the state of the Secrets. */
  key: string;
  /** The credential's name. */
  name: string;
  spec: CredentialSpec;
  /** How often in a row it has failed before. */
  failures: number;
};

export type CheckAnswer = Answer<CheckResult>;

/** What the store knows of a check. */
export type SeenCheck = Seen<CheckResult>;

/** A check that this runner has to answer. */
export type TakenCheck = Taken<CheckRequest>;

export const CHECKS = defineQuestions<CheckRequest, CheckResult>({
  list: 'checks',
  item: 'check',
  result: checkResult,
});
