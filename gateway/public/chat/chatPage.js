/**
 * The chat page in the browser. The conversation is kept in the tab (sessionStorage), never in cookies. A
 * message is sent with an ID of its own, so that a lost connection continues with the same run.
 */
const chat = document.body.dataset.chat;
const find = (id) => document.getElementById(id);
const log = find('log');
const status = find('status');
const input = find('message');
const send = find('send');
const KEY = `windlass-chat:${chat}`;
const MAX_KEPT = 200;
const RETRIES_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
const MAX_RETRY_MS = 600_000;
/** The most characters of a message, and from how many on the page counts them. */
const MAX_MESSAGE = Number(document.body.dataset.most);
const COUNTED = MAX_MESSAGE * 0.9;
const NOT_COMPLETE = 'The answer is not complete yet. Send the message when it is.';

const state = { session: randomText(32), messages: [], ...stored() };
let isOpen = false;

function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '{}');
  } catch {
    return {};
  }
}

/** Browsers may refuse storage: then the conversation lasts as long as the page. */
function store() {
  state.messages = state.messages.slice(-MAX_KEPT);
  try {
    sessionStorage.setItem(KEY, JSON.stringify(state));
  } catch {}
}

function randomText(bytes) {
  const text = String.fromCharCode(...crypto.getRandomValues(new Uint8Array(bytes)));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/* Markdown, as elements: no text is ever parsed as HTML, and images are not loaded. */

const blocks = (text) => readMarkdown(text).map(blockElement);

/** Many children would not fit on the stack as arguments. */
function element(name, children = []) {
  return filled(document.createElement(name), children);
}

function filled(parent, children) {
  for (const child of children) parent.append(child);
  return parent;
}

function blockElement(block) {
  switch (block.kind) {
    case 'heading':
      return element(`h${Math.min(block.level + 2, 6)}`, inline(block.text));
    case 'code':
      return scrollable(element('pre', [element('code', [block.text])]));
    case 'quote':
      return element('blockquote', block.blocks.map(blockElement));
    case 'rule':
      return element('hr');
    case 'list':
      return listElement(block);
    case 'table':
      return tableElement(block);
    case 'text':
      return element('p', inline(block.text));
  }
}

function scrollable(made) {
  made.tabIndex = 0;
  return made;
}

function listElement({ start, items }) {
  const list = element(start === undefined ? 'ul' : 'ol', items.map(itemElement));
  if (start !== undefined) list.start = start;
  return list;
}

function itemElement(parts) {
  return element(
    'li',
    parts.flatMap((part) => (typeof part === 'string' ? inline(part) : [listElement(part)])),
  );
}

function tableElement({ head, rows }) {
  const rowOf = (cells, name) =>
    element(
      'tr',
      cells.map((cell) => element(name, inline(cell))),
    );
  const body = element(
    'tbody',
    rows.map((cells) => rowOf(cells, 'td')),
  );
  const frame = element('div', [element('table', [element('thead', [rowOf(head, 'th')]), body])]);
  frame.className = 'table';
  return scrollable(frame);
}

// Bounded, and no part contains its own beginning: many open brackets take no longer than other text.
const INLINE =
  /(?<code>`[^`\n]{1,2000}`)|(?<strong>\*\*(?=\S)[^*]{1,2000}\*\*)|(?<em>\*(?=\S)[^*\n]{1,2000}\*)|(?<image>!\[[^[\]\n]{0,500}\]\((?:[^\])\s]|\](?!\()){0,2000}\))|\[(?<label>[^[\]\n]{1,500})\]\((?<href>(?:[^\])\s]|\](?!\()){1,2000})\)|(?<url>https?:\/\/[^\s<>"')\]]{0,2000}[^\s<>"')\].,;:!?])/gu;

function inline(text) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    parts.push(text.slice(at, match.index), inlineElement(match));
    at = match.index + match[0].length;
  }
  return [...parts, text.slice(at)];
}

function inlineElement({ 0: whole, groups }) {
  if (groups.code) return element('code', [groups.code.slice(1, -1)]);
  if (groups.strong) return element('strong', inline(groups.strong.slice(2, -2)));
  if (groups.em) return element('em', inline(groups.em.slice(1, -1)));
  if (groups.image) return whole.slice(2, whole.indexOf(']'));
  return link(groups.href ?? groups.url, groups.label ?? groups.url, whole);
}

function link(href, label, whole) {
  const isSafe = URL.canParse(href) && ['http:', 'https:', 'mailto:'].includes(new URL(href).protocol);
  if (!isSafe) return whole;
  const made = element('a', [label]);
  made.href = href;
  made.rel = 'noopener noreferrer nofollow';
  made.target = '_blank';
  const target = targetOf(new URL(href));
  if (startsWithTarget(label, target)) return made;
  const shown = element('span', [` (${target.replace(/^https?:\/\//, '')})`]);
  shown.className = 'target';
  const both = document.createDocumentFragment();
  both.append(made, shown);
  return both;
}

/* Where a link leads, as the browser reads it: the text of a link may name another place. */
function targetOf({ protocol, host, pathname }) {
  return protocol === 'mailto:' ? pathname : `${protocol}//${host}`;
}

function startsWithTarget(label, target) {
  return label.startsWith(target) && /^(?:$|[/?#])/.test(label.slice(target.length));
}

/* The conversation. */

function show(message) {
  const article = element('article', [element('h2', [message.role === 'user' ? 'You' : 'Assistant'])]);
  article.className = message.role;
  const body = element('div');
  article.append(body);
  log.append(article);
  render(body, message);
  return body;
}

function render(body, { role, text, error, partial, open }) {
  const shown = role === 'user' ? [element('p', [text])] : blocks(text);
  const all = partial ? [element('p', ['…']), ...shown] : shown;
  body.replaceChildren(filled(document.createDocumentFragment(), all));
  if (open && text === '') body.append(dots());
  if (error) {
    const line = element('p', [error]);
    line.className = 'error';
    body.append(line);
  }
}

function dots() {
  const made = element('p', [element('span'), element('span'), element('span')]);
  made.className = 'dots';
  made.setAttribute('aria-label', 'Waiting for the answer');
  made.setAttribute('role', 'img');
  return made;
}

/** Renders at most once per frame, and follows the end unless the reader has scrolled up. */
function renderer(body, message) {
  let isWaiting = false;
  const draw = () => {
    isWaiting = false;
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
    render(body, message);
    if (isAtEnd) log.scrollTop = log.scrollHeight;
  };
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(draw);
  };
}

function setOpen(value) {
  isOpen = value;
  typed();
  log.setAttribute('aria-busy', String(value));
  find('suggestions').hidden = state.messages.length > 0;
  find('restart').hidden = state.messages.length === 0 || value;
  for (const old of log.querySelectorAll('.again')) old.remove();
  if (!value && state.messages.at(-1)?.error) log.lastElementChild.append(againButton());
}

function againButton() {
  const made = element('button', ['Send again']);
  made.type = 'button';
  made.className = 'again';
  made.addEventListener('click', sendAgain);
  return made;
}

/** Sends the last message of the user as a new one, in place of the failed one. */
function sendAgain() {
  state.messages.pop();
  log.lastElementChild.remove();
  state.messages.at(-1).id = randomText(16);
  input.focus();
  void answer();
}

function say(text) {
  if (status.textContent !== text) status.textContent = text;
}

function ask(text) {
  state.messages.push({ role: 'user', text, id: randomText(16) });
  show(state.messages.at(-1));
  void answer();
}

/** Gets the answer to the last message of the user. */
async function answer() {
  const question = state.messages.findLast(({ role }) => role === 'user');
  const message = { role: 'assistant', text: '', open: true };
  state.messages.push(message);
  store();
  const body = show(message);
  log.scrollTop = log.scrollHeight;
  setOpen(true);
  await converse(question, message, renderer(body, message));
  delete message.open;
  render(body, message);
  log.scrollTop = log.scrollHeight;
  say('');
  store();
  setOpen(false);
}

/** Sends the message until it is answered or refused. */
async function converse(question, message, changed) {
  const startedAt = Date.now();
  for (let tries = 0; ; tries += 1) {
    const outcome = await attempt(question, message, changed);
    if (outcome.isOver) return;
    if (outcome.needsToken) {
      await askForToken();
      continue;
    }
    if (Date.now() - startedAt > MAX_RETRY_MS) {
      message.error = 'The connection was lost. Send the message again.';
      return;
    }
    if (outcome.hasBegun) tries = 0;
    say(navigator.onLine ? 'Connection lost. Trying again…' : 'You are offline. The answer continues when you are back.');
    await pause(outcome.retryMs ?? RETRIES_MS[Math.min(tries, RETRIES_MS.length - 1)]);
  }
}

function pause(ms) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener('online', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    addEventListener('online', end);
  });
}

async function attempt(question, message, changed) {
  let response;
  try {
    response = await request(question);
  } catch {
    return {};
  }
  if (!response.ok) return refusal(response, message);
  say('');
  let hasBegun = false;
  try {
    for await (const { event, data } of eventsOf(response.body)) {
      if (!hasBegun) message.text = '';
      hasBegun = true;
      if (take(message, event, data)) return { isOver: true };
      changed();
    }
  } catch {
    // The connection was lost: the same message continues with the same run.
  }
  return { hasBegun };
}

function request({ text, id }) {
  return fetch(`/chat/${chat}/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'windlass-chat-session': state.session,
      ...(state.token && { authorization: `Bearer ${state.token}` }),
    },
    body: JSON.stringify({ message: text, id }),
    credentials: 'omit',
    redirect: 'error',
  });
}

const REFUSALS = {
  404: 'This chat is not available at the moment.',
  413: 'The message is too long. Send a shorter one.',
  422: 'The message was not accepted. Send another one.',
};

async function refusal(response, message) {
  const { status: code, headers } = response;
  await response.body?.cancel().catch(() => undefined);
  if (code === 401) return { needsToken: true };
  const retryMs = Number(headers.get('retry-after') ?? 0) * 1_000;
  if (code === 409 || code === 429 || code === 503) return { retryMs: Math.max(retryMs, 1_000) };
  message.error = REFUSALS[code] ?? 'The message could not be answered. Try again later.';
  return { isOver: true };
}

/** Takes an event into the message; true if it is the last one. */
function take(message, event, data) {
  const value = JSON.parse(data);
  delete message.partial;
  if (event === 'text') message.text += value.text;
  if (event === 'reset' || event === 'done') message.text = value.text;
  if (event === 'reset' && value.partial) message.partial = true;
  if (event === 'error') {
    message.text = '';
    message.error = value.detail;
  }
  return event === 'done' || event === 'error';
}

/** The server-sent events of a body. */
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split('\n\n');
    text = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s)));
      if (fields.event) yield { event: fields.event, data: fields.data };
    }
  }
}

/* Controls. */

function askForToken() {
  const form = find('access');
  find('access-problem').textContent = state.token ? 'The token is not accepted. Enter another one.' : '';
  say('');
  form.hidden = false;
  find('compose').hidden = true;
  find('token').focus();
  return new Promise((resolve) => {
    const enter = (event) => {
      event.preventDefault();
      // Two messages may ask at the same time: the field is empty for the second one.
      state.token = find('token').value.trim() || state.token;
      find('token').value = '';
      store();
      form.hidden = true;
      find('compose').hidden = false;
      input.focus();
      resolve();
    };
    form.addEventListener('submit', enter, { once: true });
  });
}

function submit() {
  const text = input.value;
  if (text.trim() === '' || text.length > MAX_MESSAGE) return;
  if (isOpen) {
    say(NOT_COMPLETE);
    return;
  }
  input.value = '';
  typed();
  ask(text);
}

/** A text that is too long is not cut: the page says by how much it is. */
function typed() {
  resize();
  const { length } = input.value;
  const isTooLong = length > MAX_MESSAGE;
  const limit = find('limit');
  limit.classList.toggle('error', isTooLong);
  limit.textContent = isTooLong
    ? `The message is too long: ${number(length)} of at most ${number(MAX_MESSAGE)} characters. Shorten it to send it.`
    : length > COUNTED
      ? `${number(length)} of at most ${number(MAX_MESSAGE)} characters`
      : '';
  if (isTooLong) input.setAttribute('aria-invalid', 'true');
  else input.removeAttribute('aria-invalid');
  send.disabled = isOpen || isTooLong;
}

function number(value) {
  return value.toLocaleString('en');
}

function resize() {
  input.rows = Math.min(input.value.split('\n').length, 8);
}

find('compose').addEventListener('submit', (event) => {
  event.preventDefault();
  submit();
});
input.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  submit();
});
input.addEventListener('input', typed);
find('suggestions').addEventListener('click', ({ target }) => {
  if (target.localName !== 'button' || isOpen) return;
  ask(target.textContent);
  input.focus();
});
find('restart').addEventListener('click', () => {
  state.messages = [];
  state.session = randomText(32);
  store();
  for (const article of log.querySelectorAll('article')) article.remove();
  setOpen(false);
  input.focus();
});

const last = state.messages.at(-1);
if (last?.open || last?.role === 'user') {
  if (last.open) state.messages.pop();
  state.messages.forEach(show);
  void answer();
} else {
  state.messages.forEach(show);
  setOpen(false);
  log.scrollTop = log.scrollHeight;
  if (document.body.dataset.access === 'token' && !state.token) void askForToken();
  // A page in a frame must not take the focus from its site.
  else if (window === window.top) input.focus();
}
