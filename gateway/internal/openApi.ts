/**
 * `GET /openapi.json`: what the gateway answers, for programs. It holds nothing of an installation or a tenant, so that it
 * needs no token; it is made once, and who has it already is told so.
 */
import { createHash } from 'node:crypto';
import type { FastifyPluginCallback } from 'fastify';
import { createAnswers, JSON_TYPE } from '../http/answers.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { onlyGet } from '../endpoint/admit.ts';
import { openApiDocument } from '../contract/document.ts';
import { routePath } from '../contract/operation.ts';
import { OPERATIONS } from '../contract/operations.ts';

export function openApiRoute(deps: GatewayDeps): FastifyPluginCallback {
  const answers = createAnswers(deps, 'other');
  const text = JSON.stringify(openApiDocument());
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  return (app, _options, done) => {
    app.route({
      method: app.supportedMethods,
      url: routePath(OPERATIONS.describe),
      onRequest: onlyGet(answers),
      handler: ({ raw }, reply) => {
        reply.headers({ etag: tag, 'cache-control': 'no-cache' });
        if (!isHeld(raw.headers['if-none-match'], tag)) return answers.send(reply, 200, JSON_TYPE, text);
        answers.count(304);
        reply.code(304).send();
      },
    });
    done();
  };
}

/** Whether the caller names this tag, weakly compared (RFC 9110, section 13.1.2). */
function isHeld(header: string | undefined, tag: string): boolean {
  const tags = (header ?? '').split(',').map((text) => text.trim().replace(/^W\//, ''));
  return tags.includes(tag) || tags.includes('*');
}
