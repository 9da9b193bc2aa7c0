/**
 * Lets calls of the console's pages bear the user's token: before a route sees the request, the token of the session becomes its
 * Authorization header. A header that was sent is never replaced, and without the console's own header the cookie counts for nothing.
 * Answers that last, such as watches and the events of a run, end within seconds when their session is signed out.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createAnswers } from '../../http/answers.ts';
import type { GatewayDeps } from '../../endpoint/deps.ts';
import type { Current } from './current.ts';
import type { Session, Sessions } from './sessions.ts';

/** What answers to a token. */
const FOR_USERS = /^\/(?:(?:workflows|credentials|kube)\/|console\/(?:live|projects)(?:$|\?))/;
/** How often it is looked whether the session of an answer that lasts was signed out. */
const LOOK_MS = 2_000;

export function bearSession(deps: GatewayDeps, sessions: Sessions, current: Current) {
  const answers = createAnswers(deps, 'console');

  async function bear(request: FastifyRequest, reply: FastifyReply, done: () => void): Promise<void> {
    const opened = await current({ request, reply });
    if (opened.outcome === 'unavailable') return answers.problem(reply, 'console-unavailable');
    if (opened.outcome === 'session') {
      request.raw.headers.authorization = `Bearer ${opened.session.token}`;
      endWith(sessions, opened.session, reply.raw);
    }
    done();
  }

  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { headers, url = '' } = request.raw;
    if (headers.authorization !== undefined || !FOR_USERS.test(url)) return done();
    if (!sessions.origin.isFromConsole(headers)) return done();
    bear(request, reply, done).catch((error: unknown) => answers.unexpected(reply, error));
  };
}

/** Breaks off what is being sent when the session is signed out, at whatever replica. What has no answer yet is let be. */
function endWith(sessions: Sessions, session: Session, response: ServerResponse): void {
  if (response.destroyed) return;
  const look = async (): Promise<void> => {
    const isOut = await sessions.isOut(session).catch(() => undefined);
    if (isOut === true && response.headersSent) response.destroy();
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  response.once('close', () => clearInterval(timer));
}
