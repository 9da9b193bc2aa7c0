/**
 * The plain pages for people who connect a credential. All text is constant, except for the escaped names of
 * credential, requester and provider host. The only script closes a window that a page opened. No other page
 * can embed or read them.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Answers } from '../http/answers.ts';
import { escapeHtml } from '../../api/html.ts';

export type PageCode = keyof typeof PAGES;

const NEW_LINK = 'Ask for a new link (POST /credentials/…/connect) and open it.';

const PAGES = {
  connecting: {
    status: 200,
    title: 'Almost done',
    text: 'The provider granted access. The credential is ready within a few seconds; see its status. You can close this page.',
  },
  denied: {
    status: 200,
    title: 'Not connected',
    text: `Access was denied at the provider. ${NEW_LINK}`,
  },
  failed: {
    status: 200,
    title: 'Not connected',
    text: `The provider returned an error. Check the client ID, redirect URI and scopes at the provider. ${NEW_LINK}`,
  },
  'link-unknown': {
    status: 404,
    title: 'This link cannot be used',
    text: `It was used before, has expired, or is invalid. ${NEW_LINK}`,
  },
  'state-unknown': {
    status: 400,
    title: 'Not connected',
    text: `The provider's answer is invalid, has expired, or was used before. ${NEW_LINK}`,
  },
  'other-browser': {
    status: 400,
    title: 'Not connected',
    text: `The link was opened in another browser. ${NEW_LINK}`,
  },
  'other-issuer': {
    status: 400,
    title: 'Not connected',
    text: `The answer comes from an unexpected issuer. If it is yours, set it in spec.oauth2.issuer. ${NEW_LINK}`,
  },
  'not-taken': {
    status: 503,
    title: 'Not connected',
    text: `The provider's answer could not be stored. ${NEW_LINK}`,
  },
  unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    text: 'Credentials cannot be connected at the moment. Reload this page in a few seconds.',
  },
} as const satisfies Record<string, { status: number; title: string; text: string }>;

/** Browsers close only windows that a page opened; a tab that a person opened stays, with the text. */
const CLOSES = 'close()';
const CLOSES_HASH = createHash('sha256').update(CLOSES).digest('base64');
const POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

const HTML_TYPE = 'text/html; charset=utf-8';

/** Sends a page, with the name of the credential. */
export function sendPage(answers: Answers, reply: FastifyReply, code: PageCode, credential?: string): void {
  const { status, title, text } = PAGES[code];
  reply.headers(HEADERS);
  if (status === 503) reply.header('retry-after', '5');
  if (code !== 'connecting') {
    answers.send(reply, status, HTML_TYPE, htmlOf(title, text, { credential }));
    return;
  }
  reply.header('content-security-policy', `${POLICY}; script-src 'sha256-${CLOSES_HASH}'`);
  const more = `<script>${CLOSES}</script>\n`;
  answers.send(reply, status, HTML_TYPE, htmlOf(title, text, { credential, more }));
}

/** `next` is the URL to continue. */
type Question = { namespace: string; name: string; user: string; host: string; next: string };

/** Sends the page that asks for confirmation. */
export function sendQuestion(answers: Answers, reply: FastifyReply, question: Question): void {
  const { namespace, name, user, host, next } = question;
  const who = user === '' ? 'Someone' : user;
  const text = `${who} asks you to connect your account at ${host}. Workflows in the namespace ${namespace} can then use it, with the permissions shown there. If you do not expect this, close this page.`;
  const more = `<p><a href="${escapeHtml(next)}" rel="noreferrer">Continue to ${escapeHtml(host)}</a></p>\n`;
  reply.headers(HEADERS);
  answers.send(
    reply,
    200,
    HTML_TYPE,
    htmlOf('Connect an account', text, { credential: `${namespace}/${name}`, more }),
  );
}

/** Sets the headers of every answer to a browser, redirects too. */
export function guardAnswer(reply: FastifyReply): void {
  reply.headers(HEADERS);
}

function htmlOf(
  title: string,
  text: string,
  { credential, more = '' }: { credential: string | undefined; more?: string },
): string {
  const named =
    credential === undefined ? '' : `<p>Credential: <strong>${escapeHtml(credential)}</strong></p>\n`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>
<body>
<h1>${escapeHtml(title)}</h1>
${named}<p>${escapeHtml(text)}</p>
${more}</body>
</html>
`;
}
