/**
 * The plain pages of the sign-in. All text is constant, except for the escaped user name of a link. No
 * scripts, no embedding.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { personName } from '../../../api/person.ts';
import type { Answers } from '../../http/answers.ts';
import { escapeHtml } from '../../../api/html.ts';

type MessageCode = keyof typeof MESSAGES;

const MESSAGES = {
  'link-unknown': {
    status: 404,
    title: 'This link cannot be used',
    text: 'It was used before, or it has expired. If you used it in this browser, you may still be signed in: open the console. Otherwise request a new link (npm run demo, POST /console/links), or sign in with a token.',
  },
  'not-signed-in': {
    status: 503,
    title: 'Not signed in',
    text: 'The cluster or the run store does not answer. The link cannot be used again: request a new one (POST /console/links), or sign in with a token.',
  },
  'provider-away': {
    status: 503,
    title: 'Temporarily unavailable',
    text: 'The sign-in provider does not respond. Reload this page in a few seconds. If the problem persists, ask the platform team: the log of the gateway has the reason.',
  },
  'not-begun': {
    status: 400,
    title: 'Not signed in',
    text: 'This sign-in was started in another browser, has expired, or was replaced by a newer one. Open the console and sign in again.',
  },
  denied: {
    status: 200,
    title: 'Not signed in',
    text: 'Access was denied at the sign-in provider. Open the console and sign in again.',
  },
  'no-token': {
    status: 503,
    title: 'Not signed in',
    text: 'The sign-in provider returned no token. Open the console and sign in again. If the problem persists, ask the platform team: the log of the gateway has the reason.',
  },
  'not-accepted': {
    status: 403,
    title: 'Not signed in',
    text: 'The cluster does not accept the ID token of the sign-in provider: its API server must trust the same issuer and client. Ask the administrator of the cluster, or sign in with a token.',
  },
  unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    text: 'The run store does not answer. Reload this page in a few seconds.',
  },
} as const satisfies Record<string, { status: number; title: string; text: string }>;

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; place-content: center; min-height: 100vh; margin: 0; padding: 1rem; box-sizing: border-box; }
main { max-width: 26rem; }
h1 { font-size: 1.25rem; margin: 0 0 0.5rem; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
button { font: inherit; padding: 0.5rem 1.25rem; cursor: pointer; }
`;

/** Sends a page with a message and a link to the console. */
export function sendMessagePage(answers: Answers, reply: FastifyReply, code: MessageCode): void {
  const { status, title, text } = MESSAGES[code];
  if (status === 503) reply.header('retry-after', '5');
  const body = `<p>${escapeHtml(text)}</p>\n<p><a href="/console/">Open the console</a></p>`;
  sendHtml(answers, reply, { status, title, body });
}

/** Asks whether to sign in as that user; the button sends a POST to `action`. */
export function sendQuestion(
  answers: Answers,
  reply: FastifyReply,
  { user, action }: { user: string; action: string },
): void {
  const body = `<p>This browser will be signed in to the Windlass console as <strong>${escapeHtml(personName(user))}</strong>. The link works once.</p>
<form method="post" action="${escapeHtml(action)}"><button type="submit" autofocus>Sign in</button></form>`;
  sendHtml(answers, reply, { status: 200, title: 'Sign in to Windlass', body });
}

type Page = { status: number; title: string; body: string };

function sendHtml(answers: Answers, reply: FastifyReply, { status, title, body }: Page): void {
  const nonce = randomBytes(18).toString('base64url');
  reply.headers({
    'content-security-policy': `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
    // The URL is a secret, but the form's request must send its origin.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-store',
  });
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style nonce="${nonce}">${STYLE}</style></head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`;
  answers.send(reply, status, 'text/html; charset=utf-8', html);
}
