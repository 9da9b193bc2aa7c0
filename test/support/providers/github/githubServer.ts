/**
 * A server that speaks the part of GitHub's REST API by which comments of a pull request are listed, created
 * and changed, as its documentation has it: https://docs.github.com/en/rest/issues/comments
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, readBody, sendJson } from '../../network/listen.ts';

export type GithubServer = {
  url: string;
  /** The texts of the comments, oldest first. */
  comments: string[];
  close(): Promise<void>;
};

const REPOSITORY = '/repos/shop/workflows';

/** Serves the comments of pull request 7 of shop/workflows. Without this token nothing may be written. */
export async function startGithub(token: string): Promise<GithubServer> {
  const comments: string[] = [];
  const shown = (body: string, id: number) => ({ id, body });
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '' } = request;
    const { pathname, searchParams } = new URL(url, 'http://github');
    if (method === 'GET' && pathname === `${REPOSITORY}/issues/7/comments`) {
      const [size, page] = [Number(searchParams.get('per_page')), Number(searchParams.get('page'))];
      sendJson(response, 200, comments.map(shown).slice((page - 1) * size, page * size));
      return;
    }
    if (request.headers.authorization !== `Bearer ${token}`) {
      sendJson(response, 403, { message: 'Resource not accessible by integration' });
      return;
    }
    const { body } = JSON.parse(await readBody(request)) as { body: string };
    const id = Number(
      new RegExp(`^${REPOSITORY}/issues/comments/(\\d+)$`).exec(pathname)?.[1] ?? comments.length,
    );
    comments[id] = body;
    sendJson(response, method === 'POST' ? 201 : 200, shown(body, id));
  };
  const server = await listen(handle);
  return { url: server.url, comments, close: () => server.close() };
}
