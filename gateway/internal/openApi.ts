/**
 * `GET /openapi.json`: the contract for programs. It contains nothing of an installation or a project, so it
 * needs no token. Generated once, with an ETag.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { createAnswers, JSON_TYPE, type Exchange } from '../http/answers.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { openApiDocument } from '../contract/document.ts';
import { OPERATIONS } from '../contract/operations.ts';
import { addEndpoints } from '../endpoint/route.ts';

export function addOpenApiRoute(app: FastifyInstance, deps: GatewayDeps): void {
  const answers = createAnswers(deps, 'other');
  const text = JSON.stringify(openApiDocument());
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  const describe = async ({ request, reply }: Exchange): Promise<void> => {
    reply.headers({ etag: tag, 'cache-control': 'no-cache' });
    if (matchesTag(request.headers['if-none-match'], tag)) answers.sendEmpty(reply, 304);
    else answers.send(reply, 200, JSON_TYPE, text);
  };
  addEndpoints(app, deps, answers, [{ operation: OPERATIONS.describe, handle: describe }]);
}

/** Whether the client has this version (weak comparison; RFC 9110, section 13.1.2). */
function matchesTag(header: string | undefined, tag: string): boolean {
  const tags = (header ?? '').split(',').map((text) => text.trim().replace(/^W\//, ''));
  return tags.includes(tag) || tags.includes('*');
}
