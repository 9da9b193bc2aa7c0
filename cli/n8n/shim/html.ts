/** A parser of HTML with simple selectors, and Markdown: what nodes of n8n do with pages. */
import type { ShimPart } from './part.ts';

const HTML: ShimPart = {
  name: 'extractHtml',
  needs: /\bextractHtml\(/,
  source: String.raw`const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr']);
const entities = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };
const decoded = (value) => value.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (all, decimal, hex, name) => decimal ? String.fromCodePoint(decimal) : hex ? String.fromCodePoint(parseInt(hex, 16)) : (entities[name] ?? all));
const parseHtml = (html) => {
  const root = { tag: '', attributes: {}, children: [], parent: null };
  let at = root;
  for (const [all, tag, rest] of html.replace(/<!--[^]*?-->|<!doctype[^>]*>/gi, '').matchAll(/<(\/?[a-zA-Z][\w-]*)((?:"[^"]*"|'[^']*'|[^'">])*)>|[^<]+|</g)) {
    if (tag === undefined) at.children.push({ text: all });
    else if (tag.startsWith('/')) {
      const name = tag.slice(1).toLowerCase();
      for (let open = at; open.parent; open = open.parent) if (open.tag === name) { at = open.parent; break; }
    } else {
      const attributes = {};
      for (const [, name, double, single, bare] of rest.matchAll(/([^\s=\/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)) attributes[name.toLowerCase()] = decoded(double ?? single ?? bare ?? '');
      const element = { tag: tag.toLowerCase(), attributes, children: [], parent: at };
      at.children.push(element);
      if (!VOID.has(element.tag) && !rest.endsWith('/')) at = element;
    }
  }
  return root;
};
const textOfElement = (element) => element.text !== undefined ? decoded(element.text) : ['script', 'style'].includes(element.tag) ? '' : element.children.map(textOfElement).join(element.tag === 'br' ? '\n' : '');
const htmlOf = (element) => element.text ?? (element.tag === '' ? '' : '<' + element.tag + Object.entries(element.attributes).map(([name, value]) => ' ' + name + '="' + value.replaceAll('"', '&quot;') + '"').join('') + '>') + element.children.map(htmlOf).join('') + (element.tag === '' || VOID.has(element.tag) ? '' : '</' + element.tag + '>');
const matchesOne = (element, selector) => {
  const siblings = element.parent?.children.filter(({ tag }) => tag !== undefined && tag !== '') ?? [];
  return (selector.match(/^[\w-]+|\*|[#.][\w-]+|\[[^\]]+\]|:[\w-]+(?:\([^)]*\))?/g) ?? []).every((part) => {
    if (part === '*') return true;
    if (part[0] === '#') return element.attributes.id === part.slice(1);
    if (part[0] === '.') return (element.attributes.class ?? '').split(/\s+/).includes(part.slice(1));
    if (part[0] === '[') {
      const [, name, operator, value] = /^\[([\w-]+)(?:([~^$*|]?=)["']?(.*?)["']?)?\]$/.exec(part) ?? [];
      const own = element.attributes[name];
      return own !== undefined && (operator === undefined || (operator === '=' ? own === value : operator === '^=' ? own.startsWith(value) : operator === '$=' ? own.endsWith(value) : own.includes(value)));
    }
    if (part[0] === ':') {
      const [, name, argument] = /^:([\w-]+)(?:\((.*)\))?$/.exec(part);
      const index = siblings.indexOf(element);
      if (name === 'first-child') return index === 0;
      if (name === 'last-child') return index === siblings.length - 1;
      if (name === 'nth-child') return index === Number(argument) - 1;
      throw new Error('the selector ' + part + ' is not supported');
    }
    return element.tag === part.toLowerCase();
  });
};
const matches = (element, steps) => {
  const [last, ...rest] = steps.toReversed();
  if (!matchesOne(element, last)) return false;
  let at = element;
  for (let index = 0; index < rest.length; index += 1) {
    if (rest[index] === '>') {
      index += 1;
      at = at.parent;
      if (!at?.tag || !matchesOne(at, rest[index])) return false;
    } else {
      do at = at.parent; while (at?.tag && !matchesOne(at, rest[index]));
      if (!at?.tag) return false;
    }
  }
  return true;
};
const selectAll = (root, selector) => {
  const alternatives = selector.split(',').map((each) => each.trim().replace(/\s*>\s*/g, ' > ').split(/\s+/));
  const found = [];
  const visit = (element) => { for (const child of element.children ?? []) { if (child.tag && alternatives.some((steps) => matches(child, steps))) found.push(child); visit(child); } };
  visit(root);
  return found;
};
const extractHtml = (html, fields, { trim, clean }) => {
  const root = parseHtml(String(html ?? ''));
  return Object.fromEntries(fields.map(({ key, selector, value, attribute, isList }) => {
    const read = (element) => {
      const raw = value === 'attribute' ? element.attributes[attribute] : value === 'html' ? element.children.map(htmlOf).join('') : value === 'value' ? element.attributes.value : textOfElement(element);
      const text = clean && value !== 'html' && typeof raw === 'string' ? raw.replace(/[^\S\n]*\n\s*/g, '\n') : raw;
      return trim && typeof text === 'string' ? text.trim() : text;
    };
    const found = selectAll(root, selector).map(read);
    return [key, isList ? found : found[0]];
  }));
};`,
};

const MARKDOWN: ShimPart = {
  name: 'markdownToHtml',
  needs: /\bmarkdownToHtml\(/,
  source: String.raw`const inlineMarkdown = (value) => value
  .replace(/!\[([^\]]*)\]\(([^)\s]+)\)/g, '<img src="$2" alt="$1">')
  .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, '<a href="$2">$1</a>')
  .replace(/\x60([^\x60]+)\x60/g, '<code>$1</code>')
  .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
  .replace(/(?<![\w*])\*([^*\s][^*]*)\*/g, '<em>$1</em>')
  .replace(/(?<!\w)_([^_\s][^_]*)_(?!\w)/g, '<em>$1</em>')
  .replace(/~~([^~]+)~~/g, '<del>$1</del>');
const markdownToHtml = (value) => String(value ?? '').split(/\n{2,}/).map((block) => {
  const lines = block.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return '';
  const heading = /^(#{1,6})\s+(.*)$/.exec(lines[0]);
  if (heading) return ['<h' + heading[1].length + '>' + inlineMarkdown(heading[2]) + '</h' + heading[1].length + '>', ...(lines.length > 1 ? [markdownToHtml(lines.slice(1).join('\n'))] : [])].join('\n');
  if (lines.every((line) => /^\s*[-*+]\s/.test(line))) return '<ul>' + lines.map((line) => '<li>' + inlineMarkdown(line.replace(/^\s*[-*+]\s+/, '')) + '</li>').join('') + '</ul>';
  if (lines.every((line) => /^\s*\d+[.)]\s/.test(line))) return '<ol>' + lines.map((line) => '<li>' + inlineMarkdown(line.replace(/^\s*\d+[.)]\s+/, '')) + '</li>').join('') + '</ol>';
  if (lines.every((line) => line.startsWith('>'))) return '<blockquote>' + lines.map((line) => inlineMarkdown(line.replace(/^>\s?/, ''))).join('<br>') + '</blockquote>';
  return '<p>' + lines.map(inlineMarkdown).join('\n') + '</p>';
}).join('\n');`,
};

const TO_MARKDOWN: ShimPart = {
  name: 'htmlToMarkdown',
  needs: /\bhtmlToMarkdown\(/,
  uses: ['extractHtml'],
  source: String.raw`const toMarkdown = (element) => {
  if (element.text !== undefined) return decoded(element.text).replace(/\s+/g, ' ');
  const inner = element.children.map(toMarkdown).join('');
  const { tag, attributes } = element;
  if (['script', 'style', 'head', 'noscript'].includes(tag)) return '';
  if (/^h[1-6]$/.test(tag)) return '\n\n' + '#'.repeat(Number(tag[1])) + ' ' + inner.trim() + '\n\n';
  if (tag === 'a') return attributes.href ? '[' + inner + '](' + attributes.href + ')' : inner;
  if (tag === 'img') return attributes.src ? '![' + (attributes.alt ?? '') + '](' + attributes.src + ')' : '';
  if (tag === 'strong' || tag === 'b') return '**' + inner + '**';
  if (tag === 'em' || tag === 'i') return '_' + inner + '_';
  if (tag === 'code') return '\x60' + inner + '\x60';
  if (tag === 'li') return '\n* ' + inner.trim();
  if (tag === 'br') return '\n';
  if (['p', 'div', 'section', 'article', 'ul', 'ol', 'table', 'tr', 'blockquote', 'pre'].includes(tag)) return '\n\n' + inner.trim() + '\n\n';
  return inner;
};
const htmlToMarkdown = (html) => toMarkdown(parseHtml(String(html ?? ''))).replace(/\n{3,}/g, '\n\n').trim();`,
};

export const PAGES: readonly ShimPart[] = [HTML, MARKDOWN, TO_MARKDOWN];
