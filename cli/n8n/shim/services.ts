/** The forms of data that services have, and that nodes of n8n translate. */
import type { ShimPart } from './part.ts';

const MAIL: ShimPart = {
  name: 'mailOf',
  needs: /\bmailOf\(/,
  source: `const base64 = (value) => btoa(Array.from(new TextEncoder().encode(String(value ?? '')), (byte) => String.fromCharCode(byte)).join(''));
const headerText = (value) => (/[^ -~]/.test(value) ? '=?UTF-8?B?' + base64(value) + '?=' : String(value)).replace(/[\\r\\n]+/g, ' ');
const mailOf = ({ to, cc, bcc, replyTo, subject, text, html }) => {
  const plain = (value) => String(value).replace(/[\\r\\n]+/g, ' ');
  const head = [['To', to], ['Cc', cc], ['Bcc', bcc], ['Reply-To', replyTo]].filter(([, value]) => value).map(([name, value]) => name + ': ' + plain(value));
  const lines = [...head, 'Subject: ' + headerText(subject ?? ''), 'MIME-Version: 1.0', 'Content-Type: text/' + (html === undefined ? 'plain' : 'html') + '; charset=utf-8', 'Content-Transfer-Encoding: base64', '', base64(html ?? text)];
  return base64(lines.join('\\r\\n')).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
};`,
};

const GMAIL: ShimPart = {
  name: 'gmailItem',
  needs: /\bgmailItem\(/,
  source: `const gmailItem = (message) => {
  const headers = Object.fromEntries((message?.payload?.headers ?? []).map(({ name, value }) => [name, value]));
  const bodies = { 'text/plain': undefined, 'text/html': undefined };
  const decode = (data) => new TextDecoder().decode(Uint8Array.from(atob(data.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0)));
  const visit = (part) => {
    if (part?.body?.data && part.mimeType in bodies) bodies[part.mimeType] ??= decode(part.body.data);
    for (const inner of part?.parts ?? []) visit(inner);
  };
  visit(message?.payload);
  return { ...message, ...headers, subject: headers.Subject, from: { text: headers.From }, to: { text: headers.To }, text: bodies['text/plain'], html: bodies['text/html'] };
};`,
};

const NOTION: ShimPart = {
  name: 'notionItem',
  needs: /\bnotionItem\(/,
  source: `const notionValue = (property) => {
  const value = property?.[property.type];
  switch (property?.type) {
    case 'title': case 'rich_text': return (value ?? []).map(({ plain_text }) => plain_text).join('');
    case 'select': case 'status': return value?.name ?? null;
    case 'multi_select': return (value ?? []).map(({ name }) => name);
    case 'people': return (value ?? []).map(({ name, id }) => name ?? id);
    case 'relation': return (value ?? []).map(({ id }) => id);
    case 'files': return (value ?? []).map((file) => file.external?.url ?? file.file?.url);
    case 'formula': case 'rollup': return value?.[value?.type] ?? null;
    default: return value ?? null;
  }
};
const notionItem = (page) => {
  const properties = Object.entries(page?.properties ?? {});
  const title = properties.find(([, property]) => property?.type === 'title');
  const named = properties.map(([name, property]) => ['property_' + name.toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_|_$/g, ''), notionValue(property)]);
  return { id: page?.id, name: title ? notionValue(title[1]) : undefined, url: page?.url, ...Object.fromEntries(named) };
};`,
};

const TELEGRAM: ShimPart = {
  name: 'telegramHtml',
  needs: /\btelegramHtml\(/,
  source: String.raw`const MARKS = { b: '**', strong: '**', i: '_', em: '_', s: '~~', strike: '~~', del: '~~', code: '\x60' };
const plainHtml = (value) => value.replace(/&(?:#(\d+)|(lt|gt|amp|quot));/g, (all, code, name) => code ? String.fromCodePoint(code) : { lt: '<', gt: '>', amp: '&', quot: '"' }[name]);
const telegramHtml = (html) => {
  let isCode = false;
  let target = '';
  return String(html ?? '').split(/(<\/?[a-z][^>]*>)/i).map((piece) => {
    const [, slash, tag, rest] = /^<(\/?)([a-z][\w-]*)([^>]*)>$/i.exec(piece) ?? [];
    if (tag === undefined) return isCode ? plainHtml(piece) : plainHtml(piece).replace(/[\\\x60*_~[\]]/g, '\\$&');
    const name = tag.toLowerCase();
    if (name === 'pre') { isCode = slash === ''; return slash === '' ? '\n\x60\x60\x60\n' : '\n\x60\x60\x60\n'; }
    if (name === 'code') { if (isCode && slash === '') return ''; isCode = slash === ''; }
    if (name === 'a') {
      if (slash === '') { target = plainHtml(/href\s*=\s*["']([^"']*)["']/i.exec(rest)?.[1] ?? ''); return '['; }
      return '](' + target.replace(/[()]/g, encodeURIComponent) + ')';
    }
    return MARKS[name] ?? '';
  }).join('');
};`,
};

export const SERVICES: readonly ShimPart[] = [MAIL, GMAIL, NOTION, TELEGRAM];
