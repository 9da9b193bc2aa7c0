/**
 * What people see of what they may not do: nothing. And what other sites can make a signed-in browser do:
 * nothing.
 */
import type { Browser, Page, Request, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GROUP } from '../../../api/group.ts';
import { roleBindings, secrets, type PolicyRule } from '../../../kube/resource.ts';
import { workflows as workflowObjects } from '../../../operator/shared/resources.ts';
import { show, startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import { addForRights, WAITING_RUN } from '../../support/console/guardedElements.ts';
import { largeWorkflow, manifestOf, fillProject } from '../../support/console/filledProject.ts';
import { canvasOpened, chooseCredential, openNode, writeExpression } from '../../support/console/steps.ts';
import {
  EDITOR,
  READER,
  startConsoleSystem,
  type ConsoleSystem,
} from '../../support/console/consoleSystem.ts';
import { listen, type Listening } from '../../support/network/listen.ts';
import { pollUntil } from '../../support/time/poll.ts';

const PROJECT = 'shop';
const LIST = `/console/p/${PROJECT}/workflows`;
const EDITOR_PAGE = `${LIST}/order-confirmation`;
const CREDENTIALS = `/console/p/${PROJECT}/credentials`;
const RUNS = `/console/p/${PROJECT}/runs`;

let system: ConsoleSystem;
let browser: Browser;
let waitedFor: { close: () => Promise<void> };

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await fillProject(system, PROJECT);
  waitedFor = await addForRights(system, PROJECT);
});
afterAll(async () => {
  await browser?.close();
  await waitedFor?.close();
  await system?.stop();
});

const addressOf = (path: string) => new URL(path, system.consoleURL).href;

type Watched = Visitor & {
  /** Calls that were answered with: not allowed. */
  refused: string[];
  /** Waits until the page asks for nothing more. */
  settled: () => Promise<unknown>;
};

/** Somebody who is signed in. */
async function signedIn(token: string): Promise<Watched> {
  const watched = await watchedVisitor();
  await startSession(watched.context, system.consoleURL, token);
  return watched;
}

/** Somebody whose calls are noted. */
async function watchedVisitor(): Promise<Watched> {
  const visitor = await visit(browser);
  const refused: string[] = [];
  const open = new Set<Request>();
  let quietSince = performance.now();
  visitor.page.on('request', (request) => {
    // These stay open as long as the page, or as long as the run goes on.
    if (!/\/(live|events)$/.test(new URL(request.url()).pathname)) open.add(request);
  });
  const ended = (request: Request): void => {
    open.delete(request);
    quietSince = performance.now();
  };
  visitor.page.on('requestfinished', ended);
  visitor.page.on('requestfailed', ended);
  visitor.page.on('response', (answer) => {
    if (answer.status() === 403) refused.push(`${answer.request().method()} ${answer.url()}`);
  });
  const settled = () =>
    pollUntil('a quiet page', async () => open.size === 0 && performance.now() - quietSince > 300, {
      timeoutMs: 20_000,
      everyMs: 50,
    });
  return { ...visitor, refused, settled };
}

type PageOf = { path: string; ready: (page: Page) => Promise<unknown> };

const seen = (text: string) => (page: Page) => page.getByText(text).first().waitFor();
const menuOpened = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Actions for A draft' }).click();
  await page.getByRole('menuitem', { name: 'Open' }).waitFor();
};
const detailsOpened = async (page: Page): Promise<void> => {
  await page.getByText('lost', { exact: true }).first().click();
  await page.getByText('Used by').first().waitFor();
};
const newestOpened = async (page: Page): Promise<void> => {
  await page.locator('a[href*="/runs/order-"]').first().click();
  await page.getByRole('link', { name: 'Open in editor' }).waitFor();
};

const accountOpened = async (page: Page): Promise<void> => {
  await page.getByText('sheets', { exact: true }).first().click();
  await page.getByText('Used by').first().waitFor();
};
const outputOpened = async (page: Page): Promise<void> => {
  await page
    .getByRole('complementary', { name: /^Node / })
    .first()
    .getByRole('tab', { name: 'Output' })
    .click();
};
const pollsOpened = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: /^New email: / }).click();
  await page.getByText('Last poll').first().waitFor();
};
const waits = async (page: Page): Promise<void> => {
  await page
    .getByText(/^Running/)
    .first()
    .waitFor();
};

const PAGES = {
  list: { path: LIST, ready: seen('Order confirmation') },
  menu: { path: LIST, ready: menuOpened },
  editor: { path: EDITOR_PAGE, ready: (page) => page.locator('[data-card="trigger"]').waitFor() },
  credentials: { path: CREDENTIALS, ready: seen('lost') },
  details: { path: CREDENTIALS, ready: detailsOpened },
  account: { path: CREDENTIALS, ready: accountOpened },
  run: { path: RUNS, ready: newestOpened },
  waiting: { path: `${RUNS}/${WAITING_RUN}`, ready: waits },
  canvas: { path: `${LIST}/waits?run=${WAITING_RUN}`, ready: waits },
  output: { path: `${EDITOR_PAGE}?node=mail`, ready: outputOpened },
  polls: { path: `${LIST}/mails`, ready: pollsOpened },
  managed: { path: `${LIST}/from-git`, ready: seen('Argo CD') },
} satisfies Record<string, PageOf>;

type Button = { name: RegExp; role: 'button' | 'menuitem' | 'switch'; page: keyof typeof PAGES };

/** Each thing that can be clicked and changes something, and the right that it takes. */
const BUTTONS: (Button & { verb: string; resource: string })[] = [
  { name: /^New workflow$/, role: 'button', page: 'list', verb: 'create', resource: 'workflows' },
  {
    name: /^Order confirmation is active$/,
    role: 'switch',
    page: 'list',
    verb: 'patch',
    resource: 'workflows',
  },
  { name: /^Edit a copy$/, role: 'button', page: 'managed', verb: 'create', resource: 'workflows' },
  { name: /^Reset cursor/, role: 'button', page: 'polls', verb: 'patch', resource: 'workflows' },
  { name: /^Run to here$/, role: 'button', page: 'output', verb: 'create', resource: 'workflows/execute' },
  { name: /^(Connect|Reconnect)$/, role: 'button', page: 'account', verb: 'update', resource: 'credentials' },
  { name: /^Cancel run$/, role: 'button', page: 'waiting', verb: 'delete', resource: 'workflowruns' },
  { name: /^Cancel run$/, role: 'button', page: 'canvas', verb: 'delete', resource: 'workflowruns' },
  { name: /^Duplicate$/, role: 'menuitem', page: 'menu', verb: 'create', resource: 'workflows' },
  { name: /^Rename$/, role: 'menuitem', page: 'menu', verb: 'patch', resource: 'workflows' },
  { name: /^Suspend\b/, role: 'menuitem', page: 'menu', verb: 'patch', resource: 'workflows' },
  { name: /^Delete$/, role: 'menuitem', page: 'menu', verb: 'delete', resource: 'workflows' },
  { name: /^Publish(ed)?$/, role: 'button', page: 'editor', verb: 'patch', resource: 'workflows' },
  { name: /^Active$/, role: 'switch', page: 'editor', verb: 'patch', resource: 'workflows' },
  { name: /^Add a node after/, role: 'button', page: 'editor', verb: 'patch', resource: 'workflows' },
  { name: /^Test run$/, role: 'button', page: 'editor', verb: 'create', resource: 'workflows/execute' },
  { name: /^New credential$/, role: 'button', page: 'credentials', verb: 'create', resource: 'credentials' },
  { name: /^Edit$/, role: 'button', page: 'details', verb: 'patch', resource: 'credentials' },
  { name: /^(Test|Try)\b/, role: 'button', page: 'details', verb: 'patch', resource: 'credentials' },
  { name: /^Delete$/, role: 'button', page: 'details', verb: 'delete', resource: 'credentials' },
  { name: /^(?:Retry|Run again)\b/, role: 'button', page: 'run', verb: 'create', resource: 'workflowruns' },
  {
    name: /^(?:Retry|Run again)\b/,
    role: 'button',
    page: 'run',
    verb: 'create',
    resource: 'workflows/execute',
  },
];

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'use'];
const OWN = ['workflows', 'workflowruns', 'credentials', 'webhookroutes'];

/** All that an editor may do, but for one verb on one resource. */
function allBut(verb: string, resource: string): PolicyRule[] {
  const rule = (name: string, verbs: string[]) => ({
    apiGroups: [GROUP],
    resources: [name],
    verbs: verbs.filter((each) => each !== verb || name !== resource),
  });
  return [
    ...(EDITOR.rules ?? []),
    ...OWN.map((name) => rule(name, VERBS)),
    rule('workflows/execute', ['create']),
  ].filter(({ verbs }) => verbs.length > 0);
}

/** The buttons of a page. `expected`: those that are waited for. */
async function shownAt(
  { page, settled }: Watched,
  where: keyof typeof PAGES,
  expected: readonly Button[] = [],
): Promise<Set<Button>> {
  const { path, ready } = PAGES[where];
  await show(page, addressOf(path));
  await ready(page);
  for (const { role, name } of expected) await page.getByRole(role, { name }).first().waitFor();
  await settled();
  const there = BUTTONS.filter((button) => button.page === where);
  const counts = await Promise.all(there.map(({ role, name }) => page.getByRole(role, { name }).count()));
  return new Set(there.filter((_button, at) => (counts[at] ?? 0) > 0));
}

test('a user with all rights sees every button', async () => {
  const visitor = await signedIn(await system.tokenWith(PROJECT, 'editor', EDITOR));
  const missing: Button[] = [];
  for (const where of Object.keys(PAGES) as (keyof typeof PAGES)[]) {
    const shown = await shownAt(visitor, where);
    missing.push(...BUTTONS.filter((button) => button.page === where && !shown.has(button)));
  }
  expect(missing).toEqual([]);
  expect(visitor.refused).toEqual([]);
  await visitor.close();
});

test('a reader sees everything, no button that changes something, and no refused request', async () => {
  const visitor = await signedIn(await system.tokenWith(PROJECT, 'reader', READER));
  const { page, settled, refused } = visitor;
  for (const where of Object.keys(PAGES) as (keyof typeof PAGES)[])
    expect([where, ...(await shownAt(visitor, where))]).toEqual([where]);
  await show(page, addressOf(`/console/p/${PROJECT}/overview`));
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await show(page, addressOf(`${EDITOR_PAGE}?node=mail`));
  await page.getByRole('complementary', { name: 'Node mail' }).first().waitFor();
  await page.getByText('Read-only', { exact: true }).waitFor();
  await settled();
  expect(refused).toEqual([]);
  await visitor.close();
});

const lacking = [...Map.groupBy(BUTTONS, ({ verb, resource }) => `${verb} ${resource}`)];

describe('one browser, in which somebody else signs in each time', () => {
  let visitor: Watched;
  beforeAll(async () => {
    visitor = await watchedVisitor();
  });
  afterAll(() => visitor?.close());

  test.each(lacking)(
    'without the right to %s its buttons are hidden and all others are shown',
    async (right, own) => {
      const [verb = '', resource = ''] = right.split(' ');
      const name = `not-${verb}-${resource.replaceAll('/', '-')}`;
      const token = await system.tokenWith(PROJECT, name, { rules: allBut(verb, resource) });
      // So that the page of the one before asks for nothing in the name of this one.
      await visitor.page.goto('about:blank');
      await startSession(visitor.context, system.consoleURL, token);
      for (const where of new Set(own.map((button) => button.page))) {
        const others = BUTTONS.filter(
          (button) =>
            button.page === where && !own.some(({ name: label }) => `${label}` === `${button.name}`),
        );
        expect(await shownAt(visitor, where, others)).toEqual(new Set(others));
      }
      expect(visitor.refused).toEqual([]);
    },
  );
});

test('a credential without the right to use it is marked in the list and reported at the node', async () => {
  const useModel = {
    apiGroups: [GROUP],
    resources: ['credentials'],
    resourceNames: ['model'],
    verbs: ['use'],
  };
  const rules = [...allBut('use', 'credentials'), useModel];
  const visitor = await signedIn(await system.tokenWith(PROJECT, 'not-use', { rules }));
  const { page } = visitor;
  await page.goto(addressOf(EDITOR_PAGE));
  await canvasOpened(page, 'mail');
  expect(await page.getByText('Read-only', { exact: true }).count()).toBe(0);
  const panel = await openNode(page, 'mail');
  await chooseCredential(page, 'mail Not allowed to use');
  await writeExpression(page, 'Subject', 'Another subject');
  const told = panel.getByText(/^You are not allowed to use the credential mail\./);
  await told.waitFor();
  expect(await told.count()).toBe(1);
  await visitor.close();
});

test('a user without rights in a project does not see it, and its URL says so', async () => {
  await system.createProject('other');
  // Who may not list namespaces is shown those that have workflows.
  await system.apply('other', manifestOf([largeWorkflow('small', 1)]));
  const visitor = await signedIn(await system.tokenWith('other', 'stranger', EDITOR));
  const { page } = visitor;
  await page.goto(system.consoleURL);
  await page.getByRole('heading', { name: 'Workflows', level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/console/p/other/workflows');
  await page.getByRole('combobox', { name: 'Project' }).click();
  await page.getByRole('option', { name: 'other', exact: true }).waitFor();
  expect(await page.getByRole('option').allTextContents()).toEqual(['other', 'Open another project…']);
  for (const path of [LIST, RUNS, CREDENTIALS, EDITOR_PAGE, '/console/p/not-there/workflows']) {
    await page.goto(addressOf(path));
    await page
      .getByText(/not allowed/i)
      .first()
      .waitFor();
    await page
      .getByRole('alert')
      .getByText(/^Missing permission: (?:get|list|watch) [a-z]+\.windlass\.dev in (?:shop|not-there)$/)
      .first()
      .waitFor();
    expect(await page.getByText(/Order confirmation|order-confirmation-/).count()).toBe(0);
  }
  await visitor.close();
});

test('an unlisted project opens by name, also if only one project is listed', async () => {
  await system.createProject('quiet');
  const token = await system.tokenWith(PROJECT, 'guest', EDITOR);
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'windlass-view' };
  await system.harness.client.create(roleBindings, {
    metadata: { namespace: 'quiet', name: 'guest' },
    roleRef,
    subjects: [{ kind: 'ServiceAccount', name: 'guest', namespace: PROJECT }],
  });
  const visitor = await signedIn(token);
  const { page } = visitor;
  await page.goto(system.consoleURL);
  await page.getByRole('combobox', { name: 'Project' }).click();
  await page.getByRole('option', { name: 'Open another project…' }).click();
  await page.getByLabel('Project name').fill('quiet');
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.waitForURL('**/console/p/quiet/workflows');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await expect.poll(() => page.getByRole('combobox', { name: 'Project' }).inputValue()).toBe('quiet');
  await visitor.close();
});

test('a user who may list but not watch workflows reads the list without repeated refusals', async () => {
  const token = await system.tokenWith(PROJECT, 'unwatching', { rules: allBut('watch', 'workflows') });
  const visitor = await signedIn(token);
  const { page, refused, settled } = visitor;
  await page.goto(addressOf(LIST));
  await page.getByText('Order confirmation').first().waitFor();
  const lists: string[] = [];
  page.on('request', (request) => {
    if (/\/workflows\?/.test(request.url())) lists.push(request.url());
  });
  await settled();
  expect(lists.length).toBeLessThan(3);
  expect(refused).toEqual([]);
  await visitor.close();
});

describe('a page of another site', () => {
  let site: Listening;
  let visitor: Visitor;

  beforeAll(async () => {
    site = await listen(({ url = '' }, response) => {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<!doctype html><title>Other</title><p>Other site${formSentTo(new URL(url, 'http://site'))}`);
    });
    visitor = await signedIn(await system.tokenWith(PROJECT, 'victim', EDITOR));
    await visitor.page.goto(system.consoleURL);
  });
  afterAll(async () => {
    await visitor?.close();
    await site?.close();
  });

  /** Its page: at another port of this host (the same site), or by another name of it (another site). */
  const pagesOfIt = () => [site.url, site.url.replace('127.0.0.1', 'localhost')];

  test('that frames the console shows nothing of it', async () => {
    for (const url of pagesOfIt()) {
      const page = await visitor.context.newPage();
      await page.goto(url);
      const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'));
      await page.setContent(`<iframe src="${addressOf(LIST)}"></iframe>`, { waitUntil: 'commit' });
      await refused;
      const texts = await Promise.all(
        page
          .frames()
          .slice(1)
          .map((frame) => frame.textContent('body')),
      );
      expect(texts.join('')).not.toMatch(/Windlass|Workflows|Order/);
      await page.close();
    }
  });

  /** What may be written to, and how it refuses a form: of who sent it nothing is known, or it is no JSON. */
  const TARGETS: Record<string, number> = {
    '/console/session': 403,
    '/console/live': 401,
    '/console/links': 401,
    [`/workflows/${PROJECT}.order-confirmation/execute`]: 415,
    [`/credentials/${PROJECT}.lost/connect`]: 401,
    [`/kube/apis/windlass.dev/v1alpha1/namespaces/${PROJECT}/workflows`]: 401,
    [`/kube/api/v1/namespaces/${PROJECT}/secrets`]: 401,
  };

  test('that sends forms changes nothing, and signs nobody in as somebody else', async () => {
    const before = await stateOf();
    const link = await linkOf(await system.tokenWith(PROJECT, 'attacker', EDITOR));
    const page = await visitor.context.newPage();
    for (const url of pagesOfIt()) {
      for (const [target, status] of Object.entries({ ...TARGETS, [link]: 403 })) {
        for (const enctype of ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']) {
          const query = new URLSearchParams({ to: addressOf(target), enctype });
          const answer = await answerToForm(page, `${url}/?${query.toString()}`);
          expect([target, answer.status()]).toEqual([target, status]);
          expect(await answer.headerValue('set-cookie')).toBeNull();
        }
      }
    }
    expect(await stateOf()).toEqual(before);
    // The link was not used up by it.
    expect((await fetch(addressOf(link))).status).toBe(200);
    await page.close();
  });

  /** Opens a page that sends a form by itself; the answer to the form, when it is what the browser shows. */
  async function answerToForm(page: Page, url: string): Promise<Response> {
    const answered = page.waitForResponse((answer) => answer.request().method() === 'POST');
    await page.goto(url, { waitUntil: 'commit' });
    const answer = await answered;
    await page.waitForURL(answer.url());
    return answer;
  }

  async function linkOf(token: string): Promise<string> {
    const headers = { authorization: `Bearer ${token}` };
    const made = await fetch(addressOf('/console/links'), { method: 'POST', headers });
    return new URL(((await made.json()) as { url: string }).url).pathname;
  }

  test('that calls from a script changes nothing, and reads nothing', async () => {
    const before = await stateOf();
    for (const url of pagesOfIt()) {
      const page = await visitor.context.newPage();
      await page.goto(url);
      for (const target of [...Object.keys(TARGETS), '/console/projects']) {
        const ends = await page.evaluate(callsTo(addressOf(target)));
        expect([target, ends]).toEqual([target, ['opaque', 'refused', 'refused']]);
      }
      await page.close();
    }
    expect(await stateOf()).toEqual(before);
  });

  /** What any of it would have changed. */
  async function stateOf(): Promise<object> {
    const { items } = await system.harness.client.list(workflowObjects, { namespace: PROJECT });
    const told = <T>(path: string) =>
      visitor.page.evaluate(async (url) => {
        const answer = await fetch(url, { headers: { 'x-windlass-console': '1' } });
        return (await answer.json()) as T;
      }, path);
    const runs = await told<{ items: { run: string }[] }>(`/workflows/${PROJECT}.order-confirmation/runs`);
    const kept = await system.harness.client.list(secrets, { namespace: PROJECT });
    return {
      workflows: items.map(({ metadata }) => [metadata.name, metadata.generation]),
      runs: runs.items.map(({ run }) => run),
      secrets: kept.items.map(({ metadata }) => metadata.name),
      session: await told('/console/session'),
    };
  }
});

/** A form that is sent as soon as it is there, with a body that is JSON where it is sent as text. */
function formSentTo({ searchParams }: URL): string {
  const [to, enctype] = [searchParams.get('to'), searchParams.get('enctype')];
  if (to === null) return '';
  const field = `<input name='{"token":"' value='"}'>`;
  return `<form method="post" action="${to}" enctype="${enctype}">${field}</form><script>document.forms[0].submit()</script>`;
}

/** In the page: what becomes of a call without leave, one that asks for leave, and one that deletes. */
function callsTo(url: string): string {
  const calls = [
    { method: 'POST', mode: 'no-cors', body: '{"token":"x"}' },
    { method: 'POST', headers: { 'x-windlass-console': '1' }, body: '{"token":"x"}' },
    { method: 'DELETE' },
  ];
  return `Promise.all(${JSON.stringify(calls)}.map((call) =>
    fetch(${JSON.stringify(url)}, { credentials: 'include', ...call }).then(({ type }) => type, () => 'refused')))`;
}
