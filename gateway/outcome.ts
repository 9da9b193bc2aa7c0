/** What the run store said of an event, as an answer. */
import type { FastifyReply } from 'fastify';
import type { Submitted } from '../runs/types.ts';
import { JSON_TYPE, type Answers } from './answers.ts';

/** Answers with the name of the run. */
export function answerAccepted(answers: Answers, reply: FastifyReply, status: 200 | 202, run: string): void {
  answers.send(reply, status, JSON_TYPE, `{"run":"${run}"}`);
}

/** Answers for an event that was not accepted. `suspended`: what the caller is told of a suspended workflow. */
export function refuseSubmission(
  answers: Answers,
  reply: FastifyReply,
  submitted: Exclude<Submitted, { outcome: 'accepted' }>,
  suspended: 'not-found' | 'workflow-suspended',
): void {
  switch (submitted.outcome) {
    case 'suspended':
      return answers.problem(reply, suspended);
    case 'conflict':
      return answers.problem(reply, 'key-reused');
    case 'rejected':
      return answers.problem(reply, 'too-many-runs');
    case 'unavailable': {
      const code = submitted.why === 'full' ? 'run-store-full' : 'run-store-unavailable';
      return answers.problem(reply, code, { retryAfter: submitted.retryAfterSeconds });
    }
  }
}
