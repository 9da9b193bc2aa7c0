/** `/healthz`: the process answers. `/readyz`: whether it should get requests. Answers are not counted. */
import type { FastifyInstance } from 'fastify';
import { OPERATIONS } from '../contract/operations.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { addEndpoints } from '../endpoint/route.ts';
import { createAnswers } from '../http/answers.ts';

export function addProbeRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  const answers = createAnswers(deps, 'other');
  addEndpoints(app, deps, answers, [
    {
      operation: OPERATIONS.live,
      handle: async ({ reply }) => {
        reply.type('text/plain').send('ok\n');
      },
    },
  ]);
  addEndpoints(app, deps, answers, [
    {
      operation: OPERATIONS.ready,
      handle: async ({ reply }) => {
        const reason = deps.health.unready();
        reply
          .code(reason === undefined ? 200 : 503)
          .type('text/plain')
          .send(`${reason ?? 'ok'}\n`);
      },
    },
  ]);
}
