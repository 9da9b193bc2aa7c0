/** What the run store said of an event, as an answer. */
import type { FastifyReply } from 'fastify';
import type { Submitted } from '../../runs/types.ts';
import { JSON_TYPE, type Answers } from '../http/answers.ts';
import type { ProblemCode } from '../contract/problems.ts';

/** Answers with the name of the run. */
export function answerAccepted(answers: Answers, reply: FastifyReply, status: 200 | 202, run: string): void {
  answers.send(reply, status, JSON_TYPE, `{"run":"${run}"}`);
}

type Refused = Exclude<Submitted, { outcome: 'accepted' }>;
/** What the caller is told of a suspended workflow. */
type Suspended = 'not-found' | 'workflow-suspended';

/** Answers for an event that was not accepted. */
export function refuseSubmission(
  answers: Answers,
  reply: FastifyReply,
  submitted: Refused,
  suspended: Suspended,
): void {
  const retry = submitted.outcome === 'unavailable' && { retryAfter: submitted.retryAfterSeconds };
  answers.problem(reply, submissionProblem(submitted, suspended), { ...retry });
}

/** Why an event was not accepted. */
export function submissionProblem(submitted: Refused, suspended: Suspended): ProblemCode {
  switch (submitted.outcome) {
    case 'suspended':
      return suspended;
    case 'conflict':
      return 'key-reused';
    case 'rejected':
      return 'too-many-runs';
    case 'unavailable':
      return submitted.why === 'full' ? 'run-store-full' : 'run-store-unavailable';
  }
}
