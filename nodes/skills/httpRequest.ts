/**
 * Skill `http_request`: one request to an HTTP API, over a connection of its own. It does not retry: the
 * runner does.
 */
import { StepError } from '../../api/reasons.ts';
import { readStart, readUpTo } from '../http/body.ts';
import { meaningOf, send, statusFailure } from '../http/client.ts';
import { Failure } from '../contract/failure.ts';
import type { HttpAnswer } from '../http/request.ts';
import { asStep, type StepContext, type StepResult } from '../contract/node.ts';
import { masked, type Mask } from '../contract/secret.ts';
import { outputOf } from './http/answer.ts';
import { authorityFor } from '../providers/http/authority.ts';
import { isExpected, parameters, RESPONSE_BYTES, type Parameters } from './http/parameters.ts';
import { requestOf } from './http/request.ts';
import { urlRule } from './http/url.ts';
import { destination, hiddenFromModels, type SkillDefinition } from '../contract/skill.ts';

/** What is masked of the answer to a failed request, and how many characters of it the message quotes. */
const MASKED_BYTES = 16_384;
const LONGEST_QUOTE = 1_024;

export const httpRequest: SkillDefinition<Parameters> = {
  name: 'http_request',
  description: 'Sends a request to an HTTP API and returns its response.',
  parameters,
  // A header such as X-HTTP-Method-Override or X-Original-URL asks a server for another method or path.
  rules: { url: urlRule, method: destination, headers: hiddenFromModels },
  credentials: ['http', 'oauth2'],
  credentialIsOptional: true,
  isSource: true,
  // A repeated GET, HEAD, PUT or DELETE does no more than the first (RFC 9110 section 9.2.2); POST and PATCH
  // carry a key.
  effect: 'AtLeastOnce',
  execute,
};

async function execute(
  given: Parameters,
  context: StepContext,
  name: string | undefined,
): Promise<StepResult> {
  const credential = name === undefined ? undefined : await context.credential(name);
  const authority = credential && authorityFor(credential, new URL(given.url));
  const { effectKey, mayRedirect } = context;
  const request = requestOf(given, { authority, effectKey, ...(mayRedirect && { mayRedirect }) });
  const secrets = authority?.secrets ?? [];
  return asStep(context, async () => {
    const answer = await send(request, context);
    if (!isExpected(answer.status, given.expect)) throw await unexpectedStatus(answer, secrets);
    return { output: await read(answer, given, secrets) };
  });
}

async function unexpectedStatus(answer: HttpAnswer, secrets: readonly Mask[]) {
  const { host, status, request } = answer;
  const text = (await readStart(answer, MASKED_BYTES)).toString('utf8');
  const said = /[\uFFFD\0]/.test(text) ? '' : masked(text, secrets).slice(0, LONGEST_QUOTE);
  const [kind] = meaningOf(answer);
  const isRefused = kind === 'Forbidden' && request.login !== undefined;
  const isWithout = kind === 'Rejected' && request.login === undefined;
  return statusFailure(
    answer,
    isRefused ? 'Rejected' : isWithout ? 'Refused' : kind,
    `${host} answered ${request.method} with status ${status}`,
    { text: said, secrets },
  );
}

/** The output. An answer that cannot be read is no reason to ask for a change once more. */
async function read(
  answer: HttpAnswer,
  { maxResponseBytes: most, response }: Parameters,
  secrets: readonly Mask[],
): Promise<StepResult['output']> {
  const { host, asked } = answer;
  try {
    const bytes = await readUpTo(answer, most);
    if (bytes) return outputOf(answer, bytes, { response, secrets });
  } catch (error) {
    if (!asked.mayChange) throw error;
    if (error instanceof Failure && error.kind === 'InvalidAnswer')
      throw new Failure(error.kind, error.message, { isInDoubt: error.isInDoubt, isPermanent: true });
    if (!(error instanceof StepError) || error.reason !== 'InvalidAnswer') throw error;
    throw new StepError(error.reason, error.message, { retryable: false });
  }
  const remedy = `ask for less, or raise maxResponseBytes (at most ${RESPONSE_BYTES.most})`;
  throw new StepError('OutputTooLarge', `the answer of ${host} has more than ${most} bytes: ${remedy}`);
}
