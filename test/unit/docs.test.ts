/** The documentation in the console. */
import { expect, test } from 'vitest';
import type { Block, DocPlace, Inline } from '../../console/docs/doc.ts';
import { groupedDocs, NAMED_PAGES } from '../../console/docs/groups.ts';
import {
  CREDENTIAL_DOCS,
  EXPRESSION_DOC,
  NODE_DOCS,
  REASON_DOCS,
  REFERENCE_DOC,
  reasonDoc,
  SETTING_DOCS,
  SKILL_DOCS,
} from '../../console/docs/links.ts';
import { N8N_DOC } from '../../console/docs/n8nDoc.ts';
import { consoleDocs, docOf, placeOf, slugOf } from '../../images/docs.ts';
import { SKILLS } from '../../nodes/register.ts';

const docs = await consoleDocs();
const anchors = new Map(docs.map(({ page, blocks }) => [page, anchorsOf(blocks)]));

function anchorsOf(blocks: readonly Block[]): Set<string> {
  return new Set(blocks.flatMap((block) => (block.kind === 'heading' ? [block.id] : [])));
}

/** Whether the page and its heading exist. */
function exists({ page, hash }: DocPlace): boolean {
  const own = anchors.get(page);
  return own !== undefined && (hash === undefined || own.has(hash));
}

/** Whether the link leads to nothing, or to what is not a site. */
function isBroken(link: Inline & object): boolean {
  if (link.kind === 'link') return !/^https?:\/\//.test(link.href);
  return link.kind !== 'doc' || !exists(link.to);
}

/** All parts of a text or page that lead somewhere. */
function linksIn(value: unknown): (Inline & object)[] {
  if (Array.isArray(value)) return value.flatMap(linksIn);
  if (typeof value !== 'object' || value === null) return [];
  const own =
    'kind' in value && (value.kind === 'doc' || value.kind === 'link') ? [value as Inline & object] : [];
  return [...own, ...Object.values(value).flatMap(linksIn)];
}

test('the pages are those of users, each with a title', () => {
  const pages = docs.map(({ page }) => page);
  expect(pages).toEqual(
    expect.arrayContaining(['triggers', 'triggers/mail', 'reference/workflows', 'console']),
  );
  expect(pages.filter((page) => /^(decisions|benchmarks|reliability)\//.test(page))).toEqual([]);
  expect(docs.filter(({ title, page }) => title === page)).toEqual([]);
});

test.each(docs.map((doc) => [doc.page, doc] as const))(
  'the links of %s lead to what exists',
  (_page, doc) => {
    expect(linksIn(doc.blocks).filter(isBroken)).toEqual([]);
  },
);

test('each page is in one group of the table of contents, and each page that a group names exists', () => {
  const pages = docs.map(({ page }) => page);
  const listed = groupedDocs(docs).flatMap(({ docs: each }) => each.map(({ page }) => page));
  expect(listed.toSorted()).toEqual(pages.toSorted());
  expect(NAMED_PAGES.filter((page) => !pages.includes(page))).toEqual([]);
  const guides = pages.filter((page) => !page.includes('/'));
  expect(guides.filter((page) => !NAMED_PAGES.includes(page))).toEqual([]);
});

test('what the editor links to exists', () => {
  const places = [
    ...Object.values(NODE_DOCS),
    ...Object.values(CREDENTIAL_DOCS),
    ...SKILL_DOCS,
    ...REASON_DOCS,
    ...Object.values(SETTING_DOCS),
    reasonDoc('Unreachable'),
    EXPRESSION_DOC,
    N8N_DOC,
    REFERENCE_DOC,
  ];
  expect(places.filter((place) => !exists(place))).toEqual([]);
  expect(
    SKILLS.map(({ name }) => name).filter((name) => !SKILL_DOCS.some(({ hash }) => hash?.includes(name))),
  ).toEqual([]);
});

const page = (markdown: string) => docOf('guide', markdown, new Set(['guide', 'triggers/mail']));

test.each<[string, string, unknown]>([
  [
    'markup is text',
    '<img src=x onerror=hacked()>',
    [{ kind: 'text', parts: ['<img src=x onerror=hacked()>'] }],
  ],
  ['markup in a line is text', 'a <b>b</b>', [{ kind: 'text', parts: ['a ', '<b>', 'b', '</b>'] }]],
  ['a link that runs code is text', '[a](javascript:hacked())', [{ kind: 'text', parts: ['a'] }]],
  ['a link out of the documentation is text', '[a](../examples/x)', [{ kind: 'text', parts: ['a'] }]],
  ['an image is its text', '![a](b.png)', [{ kind: 'text', parts: ['a'] }]],
  ['entities are characters', 'a &lt; b & c', [{ kind: 'text', parts: ['a < b & c'] }]],
  ['code keeps its characters', '`a < "b"`', [{ kind: 'text', parts: [{ kind: 'code', text: 'a < "b"' }] }]],
  [
    'a link to a page leads there',
    '[a](triggers/mail.md#new-mail)',
    [
      {
        kind: 'text',
        parts: [{ kind: 'doc', to: { page: 'triggers/mail', hash: 'new-mail' }, parts: ['a'] }],
      },
    ],
  ],
])('%s', (_what, markdown, blocks) => {
  expect(page(markdown).blocks).toEqual(blocks);
});

test('equal headings have different anchors', () => {
  const { title, headings } = page('# Guide\n\n## Errors\n\n## Errors\n\n### `code` & more');
  expect(title).toBe('Guide');
  expect(headings.map(({ id }) => id)).toEqual(['errors', 'errors-1', 'code--more']);
  expect(slugOf('What a step sent')).toBe('what-a-step-sent');
});

test('relative links start at the folder of their page', () => {
  expect(placeOf('triggers/mail', '../http.md#limits')).toEqual({ page: 'http', hash: 'limits' });
  expect(placeOf('triggers/mail', 'polling.md')).toEqual({ page: 'triggers/polling' });
  expect(placeOf('triggers/mail', '#here')).toEqual({ page: 'triggers/mail', hash: 'here' });
  expect(placeOf('http', '../README.md')).toBeUndefined();
});
