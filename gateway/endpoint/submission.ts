/** Submits events to the run store, and answers their callers. */
import type { Submission, Submitted } from '../../runs/types/submission.ts';
import type { GatewayDeps } from './deps.ts';
import type { FastifyReply } from 'fastify';
import { JSON_TYPE, type Answers } from '../http/answers.ts';
import type { ProblemCode } from '../contract/problems.ts';
import type { Waited, WaitOptions } from '../../runs/reply.ts';
import type { ProjectUid } from '../../store/keys.ts';

/** Submits the event within its project's concurrency; `unavailable` if no place became free in time. */
export async function submitEvent(
  { submit, limits: { concurrency } }: Pick<GatewayDeps, 'submit' | 'limits'>,
  submission: Submission,
): Promise<Submitted> {
  const hasRoom = await concurrency.enter(submission.project);
  if (!hasRoom) return { outcome: 'unavailable', why: 'connection', retryAfterSeconds: 1 };
  try {
    return await submit(submission);
  } finally {
    concurrency.leave(submission.project);
  }
}

/** Answers with the run's name. */
export function answerAccepted(answers: Answers, reply: FastifyReply, status: 200 | 202, run: string): void {
  answers.send(reply, status, JSON_TYPE, `{"run":"${run}"}`);
}

type Refused = Exclude<Submitted, { outcome: 'accepted' }>;
/** The problem of a suspended workflow. */
type Suspended = 'not-found' | 'workflow-suspended';

/** Answers the caller of an event that was not accepted. */
export function refuseSubmission(
  answers: Answers,
  reply: FastifyReply,
  submitted: Refused,
  suspended: Suspended,
): void {
  const retry = submitted.outcome === 'unavailable' && { retryAfter: submitted.retryAfterSeconds };
  answers.problem(reply, submissionProblem(submitted, suspended), { ...retry });
}

/** The problem of an event that was not accepted. */
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

/** Waits for a run as `ReplyWaiter.wait` does, counted as a waiter in the metrics. */
export async function waitForRun(
  { waiter, open }: Pick<GatewayDeps, 'waiter' | 'open'>,
  project: ProjectUid,
  run: string,
  options: WaitOptions,
): Promise<Waited> {
  open.waiters += 1;
  try {
    return await waiter.wait(project, run, options);
  } finally {
    open.waiters -= 1;
  }
}
