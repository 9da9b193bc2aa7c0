/**
 * The page of a chat: one document, whose only script and style are ours. Texts of the author are escaped. It
 * loads nothing and connects to nobody but this host, and only sites that the workflow names may embed it.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyReply } from 'fastify';
import { PUBLIC } from '../../../api/access.ts';
import type { RouteSpec } from '../../../api/route.ts';
import type { Answers } from '../../http/answers.ts';
import { escapeHtml } from '../../../api/html.ts';
import { MAX_MESSAGE } from './message.ts';

type Chat = NonNullable<RouteSpec['chat']>;

const HTML_TYPE = 'text/html; charset=utf-8';

/** The files lie beside this module, and in images beside the program. */
const fileOf = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');
const SCRIPT = `${fileOf('chatMarkdown.js')}\n${fileOf('chatPage.js')}`;
const STYLE = fileOf('chatPage.css');
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const SOURCES = `default-src 'none'; script-src ${hashOf(SCRIPT)}; style-src ${hashOf(STYLE)}; connect-src 'self'; base-uri 'none'; form-action 'none'`;

/** The Content-Security-Policy of a chat's page. */
export function chatPolicy({ embedIn = [] }: Pick<Chat, 'embedIn'>): string {
  const ancestors = embedIn.length === 0 ? "'none'" : embedIn.join(' ');
  return `${SOURCES}; frame-ancestors ${ancestors}`;
}

/** Sends the page. */
export function sendChatPage(answers: Answers, reply: FastifyReply, chat: Chat): void {
  reply.headers({
    'content-security-policy': chatPolicy(chat),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'cache-control': 'no-store',
    ...(chat.embedIn === undefined && { 'x-frame-options': 'DENY' }),
  });
  answers.send(reply, 200, HTML_TYPE, chatHtml(chat));
}

/** The document. */
export function chatHtml({ id, title, welcome, suggestions = [], access }: Chat): string {
  const name = escapeHtml(title);
  const buttons = suggestions.map((text) => `<button type="button">${escapeHtml(text)}</button>`).join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${name}</title>
<style>${STYLE}</style>
</head>
<body data-chat="${escapeHtml(id)}" data-access="${access === PUBLIC ? 'public' : 'token'}" data-most="${MAX_MESSAGE}">
<header><h1>${name}</h1><button type="button" id="restart" hidden>New conversation</button></header>
<main>
<div id="log" role="log" aria-label="Conversation" tabindex="0">
${welcome === undefined ? '' : `<p class="welcome">${escapeHtml(welcome)}</p>`}
</div>
<div id="suggestions" role="group" aria-label="Suggestions">${buttons}</div>
<p id="status" role="status"></p>
<form id="access" hidden>
<label for="token">Access token</label>
<div class="row"><input id="token" type="password" autocomplete="off" spellcheck="false" required>
<button type="submit">Continue</button></div>
<p id="access-problem" role="alert"></p>
</form>
<form id="compose">
<label for="message">Message</label>
<div class="row"><textarea id="message" rows="1" aria-describedby="limit" autocomplete="off" required></textarea>
<button type="submit" id="send">Send</button></div>
<p id="limit" aria-live="polite"></p>
</form>
<noscript><p>This page needs JavaScript.</p></noscript>
</main>
<script type="module">${SCRIPT}</script>
</body>
</html>
`;
}
