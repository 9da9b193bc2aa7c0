/** A parser of XML, and what nodes of n8n make of documents and feeds. */
import type { ShimPart } from './part.ts';

const PARSER: ShimPart = {
  name: 'parseXml',
  needs: /\bparseXml\(/,
  source: String.raw`const decodedXml = (value) => value.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(amp|lt|gt|quot|apos));/gi, (all, decimal, hex, name) => decimal ? String.fromCodePoint(decimal) : hex ? String.fromCodePoint(parseInt(hex, 16)) : { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }[name.toLowerCase()]);
const parseXml = (text) => {
  const root = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  for (const [all, cdata, close, name, rest, self] of String(text).replace(/^\uFEFF/, '').matchAll(/<!--[^]*?-->|<\?[^]*?\?>|<!DOCTYPE[^>]*>|<!\[CDATA\[([^]*?)\]\]>|<\/([\w:.-]+)\s*>|<([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|[^<]+/g)) {
    const at = open.at(-1);
    if (cdata !== undefined) at.text += cdata;
    else if (close !== undefined) {
      if (at.name !== close) throw new Error('the XML is invalid: </' + close + '> closes <' + at.name + '>');
      open.pop();
    } else if (name !== undefined) {
      const attributes = {};
      for (const [, key, double, single] of rest.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) attributes[key] = decodedXml(double ?? single);
      const element = { name, attributes, children: [], text: '' };
      at.children.push(element);
      if (self === '') open.push(element);
    } else if (!all.startsWith('<')) at.text += decodedXml(all);
  }
  if (open.length > 1 || root.children.length === 0) throw new Error('the XML is invalid: an element is not closed');
  return root.children[0];
};`,
};

const TO_OBJECT: ShimPart = {
  name: 'xmlToObject',
  needs: /\bxmlToObject\(/,
  uses: ['parseXml'],
  source: String.raw`const xmlToObject = (text, { explicitRoot = true, explicitArray = false, ignoreAttrs = false, mergeAttrs = true, trim = false, normalize = false, normalizeTags = false, attrkey = '$', charkey = '_' } = {}) => {
  const nameOf = (name) => (normalizeTags ? name.toLowerCase() : name);
  const valueOf = ({ attributes, children, text }) => {
    const given = normalize ? text.replace(/\s+/g, ' ').trim() : trim ? text.trim() : text;
    const hasText = given.trim() !== '';
    const named = ignoreAttrs ? {} : attributes;
    const result = {};
    const add = (name, value) => { result[name] = name in result ? [result[name], value].flat() : explicitArray ? [value] : value; };
    if (Object.keys(named).length > 0 && !mergeAttrs) result[attrkey] = { ...named };
    else for (const [name, value] of Object.entries(named)) add(name, value);
    for (const child of children) add(nameOf(child.name), valueOf(child));
    if (Object.keys(result).length === 0) return hasText ? given : '';
    if (hasText) result[charkey] = given;
    return result;
  };
  const root = parseXml(text);
  return explicitRoot ? { [nameOf(root.name)]: valueOf(root) } : valueOf(root);
};`,
};

const FEED: ShimPart = {
  name: 'feedItems',
  needs: /\bfeedItems\(/,
  uses: ['parseXml'],
  source: String.raw`const feedItems = (text) => {
  const root = parseXml(text);
  const isAtom = root.name === 'feed';
  const channel = isAtom ? root : (root.children.find(({ name }) => name === 'channel') ?? root);
  const elements = (root.name === 'rdf:RDF' ? root : channel).children.filter(({ name }) => name === (isAtom ? 'entry' : 'item'));
  const plain = (html) => html?.replace(/<[^>]*>/g, '').replace(/&nbsp;/g, ' ').trim();
  return elements.map(({ children }) => {
    const all = (name) => children.filter((child) => child.name === name);
    const one = (name) => all(name)[0]?.text.trim();
    const content = one('content:encoded') ?? (isAtom ? (one('content') ?? one('summary')) : one('description'));
    const date = isAtom ? (one('published') ?? one('updated')) : (one('pubDate') ?? one('dc:date'));
    const short = isAtom ? content : (one('description') ?? content);
    const link = isAtom ? (all('link').find(({ attributes }) => (attributes.rel ?? 'alternate') === 'alternate') ?? all('link')[0])?.attributes.href : one('link');
    const [enclosure] = all('enclosure');
    const categories = all('category').map(({ attributes, text }) => attributes.term ?? text.trim());
    const time = Date.parse(date ?? '');
    const item = {
      creator: one('dc:creator') ?? one('author'), author: isAtom ? all('author')[0]?.children.find(({ name }) => name === 'name')?.text : one('author'),
      title: one('title'), link, pubDate: date, 'dc:creator': one('dc:creator'), 'content:encoded': one('content:encoded'), 'content:encodedSnippet': plain(one('content:encoded')),
      content: short, contentSnippet: plain(short), guid: one('guid'), id: isAtom ? one('id') : undefined, categories: categories.length > 0 ? categories : undefined,
      enclosure: enclosure && { ...enclosure.attributes }, isoDate: Number.isNaN(time) ? undefined : new Date(time).toISOString(),
    };
    return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined));
  });
};`,
};

export const XML: readonly ShimPart[] = [PARSER, TO_OBJECT, FEED];
