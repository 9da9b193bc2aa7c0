/**
 * Lets calls of the console's pages bear the user's token: before a route sees the request, the token of the session becomes its
 * Authorization header. A header that was sent is never replaced, and without the console's own header the cookie counts for nothing.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createAnswers } from '../answers.ts';
import type { GatewayDeps } from '../deps.ts';
import { isFromConsole } from './origin.ts';
import type { Current } from './current.ts';

/** What answers to a token. */
const FOR_USERS = /^\/(?:(?:workflows|credentials|kube)\/|console\/(?:live|projects)(?:$|\?))/;

export function bearSession(deps: GatewayDeps, current: Current) {
  const answers = createAnswers(deps, 'console');

  async function bear(request: FastifyRequest, reply: FastifyReply, done: () => void): Promise<void> {
    const opened = await current({ request, reply });
    if (opened.outcome === 'unavailable') return answers.problem(reply, 'console-unavailable');
    if (opened.outcome === 'session') request.raw.headers.authorization = `Bearer ${opened.session.token}`;
    done();
  }

  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { headers, url = '' } = request.raw;
    if (headers.authorization !== undefined || !FOR_USERS.test(url) || !isFromConsole(headers)) return done();
    bear(request, reply, done).catch((error: unknown) => answers.unexpected(reply, error));
  };
}
