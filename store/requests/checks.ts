/** Requests of the operator to check a credential. */
import { checkResult, type CheckResult } from '../../api/check.ts';
import type { CredentialSpec } from '../../api/credential.ts';
import { defineRequests, type Answer, type Seen, type Taken } from './requests.ts';

/** A credential to check. */
export type CheckRequest = {
  /** Identifies the spec and the state of the Secrets. */
  key: string;
  /** The credential's name. */
  name: string;
  spec: CredentialSpec;
  /** Failures in a row before this check. */
  failures: number;
};

export type CheckAnswer = Answer<CheckResult>;

/** The state of a check in the run store. */
export type SeenCheck = Seen<CheckResult>;

/** A check that this runner has to answer. */
export type TakenCheck = Taken<CheckRequest>;

export const CHECKS = defineRequests<CheckRequest, CheckResult>({
  list: 'checks',
  item: 'check',
  result: checkResult,
});
