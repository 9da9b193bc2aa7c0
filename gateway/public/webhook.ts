/**
 * `POST /webhook/{id}/{path}`: one event, stored before it is answered. What may be wrong is told in a fixed order, and
 * what is unknown, inactive or no webhook is answered with the same bytes.
 */
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify';
import { parseJson } from '../../api/json.ts';
import { submit } from '../../runs/submit.ts';
import { createAnswers, type Answers } from '../answers.ts';
import { readBody, refuseByHeaders } from '../body.ts';
import type { GatewayDeps } from '../deps.ts';
import { admittedHeaders, eventHash, eventInput, eventKey } from '../event.ts';
import type { ProblemCode } from '../problems.ts';
import { answerAccepted, refuseSubmission } from '../outcome.ts';
import type { Route } from '../routes.ts';
import { answerReply } from './reply.ts';

const PREFIX = '/webhook/';

export function webhookRoute(deps: GatewayDeps): FastifyPluginCallback {
  const answers = createAnswers(deps.metrics, 'webhook', deps.log);
  return (app, _options, done) => {
    app.route({
      method: app.supportedMethods,
      url: `${PREFIX}*`,
      // All of it happens in this hook: what would follow it is made for bodies that the framework parses.
      onRequest: (request, reply) => {
        const code = refuseUnread(deps, request);
        if (code !== undefined) refuse(answers, reply, code);
        else
          accept(deps, answers, request, reply).catch((error: unknown) => answers.unexpected(reply, error));
      },
      handler: () => undefined,
    });
    done();
  };
}

function refuse(answers: Answers, reply: FastifyReply, code: ProblemCode): void {
  answers.problem(reply, code, code === 'method-not-allowed' ? { allow: 'POST' } : {});
}

/** What can be refused before a byte of the body is read, in the order that callers are told. */
function refuseUnread(deps: GatewayDeps, { raw }: FastifyRequest): ProblemCode | undefined {
  if (routeOf(deps, raw.url) === undefined) return deps.health.synced() ? 'not-found' : 'not-ready';
  if (raw.method !== 'POST') return 'method-not-allowed';
  return refuseByHeaders(raw.headers, deps.bodyLimit);
}

/** The part of the URL after the prefix is compared as it came: ids and paths need no escapes, so escapes match none. */
function routeOf({ routes }: GatewayDeps, url: string | undefined): Route | undefined {
  if (url === undefined) return undefined;
  const query = url.indexOf('?');
  return routes.webhook(url.slice(PREFIX.length, query === -1 ? undefined : query));
}

async function accept(
  deps: GatewayDeps,
  answers: Answers,
  { raw }: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const body = await readBody(raw, reply.raw, deps.bodyLimit);
  if (body.outcome === 'aborted') return;
  if (body.outcome === 'too-large') return answers.problem(reply, 'too-large');
  const route = routeOf(deps, raw.url);
  if (route?.spec.webhook === undefined) return answers.problem(reply, 'not-found');
  const { webhook } = route.spec;
  const key = eventKey(raw.headers, webhook.dedupeHeader);
  if (key.outcome === 'bad') return answers.problem(reply, 'bad-key');
  const json = parseJson(body.bytes);
  if (!json.ok) return answers.problem(reply, json.code);

  const { text } = json;
  const startedAt = performance.now();
  const submitted = await submit(deps.runs, {
    project: route.spec.projectUID,
    workflow: route.spec.workflow,
    workflowUid: route.spec.workflowUID,
    revision: route.spec.revision,
    trigger: 'webhook',
    input: eventInput(text, admittedHeaders(raw.headers, webhook.headers)),
    test: false,
    ...(key.outcome === 'key'
      ? { dedupeKey: key.key, bodyHash: eventHash({ trigger: 'webhook', test: false, text }) }
      : { bodyHash: '' }),
  });
  deps.metrics.acceptSeconds.observe((performance.now() - startedAt) / 1_000);
  if (submitted.outcome !== 'accepted') return refuseSubmission(answers, reply, submitted);
  if (webhook.reply) await answerReply(deps, answers, reply, { route, submitted });
  else answerAccepted(answers, reply, 200, submitted.run);
}
