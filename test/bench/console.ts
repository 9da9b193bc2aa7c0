/** `console`: what people wait for in the console, in a real Chromium: the first load, dragging, long lists, text that streams. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { signInAt, startChromium, visit } from '../support/chromium.ts';
import { nodeOf } from '../support/consoleSteps.ts';
import { manifestOf, stockProject } from '../support/consoleStock.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../support/consoleSystem.ts';
import { pollUntil } from '../support/poll.ts';
import { startWriter, withRows, type Writer } from './consoleScenes.ts';
import { p95, traceFrames, type Frames, type Traced } from './frames.ts';
import { median, type Figure } from './report.ts';

const PROJECT = 'shop';
const LOADS = 7;
const FRAME_MS = 16;
const MOVES = 150;
const SCROLL_MS = 3_000;
const RUNS = 5_000;
const WORKFLOWS = 1_000;
const TEXT_KB = 100;
const PATIENCE_MS = 60_000;

type Stage = { system: ConsoleSystem; writer: Writer; context: BrowserContext; page: Page };

export async function consoleSpeed(): Promise<Figure[]> {
  const writer = await startWriter(TEXT_KB);
  const system = await startConsoleSystem();
  const browser = await startChromium();
  try {
    await stockProject(system, PROJECT);
    await system.apply(PROJECT, manifestOf(writerObjects(writer)));
    await system.stage.waitFor(PROJECT, 'writer', { type: 'Ready', status: 'True' }, PATIENCE_MS);
    const { context, page } = await visit(browser);
    page.setDefaultTimeout(PATIENCE_MS);
    await signInAt(page, system.consoleURL, await system.tokenWith(PROJECT, 'ada', EDITOR));
    const stage = { system, writer, context, page };
    return [
      ...(await firstLoad(stage, browser)),
      ...framesFigures('dragging one of 100 nodes', await dragging(stage)),
      ...framesFigures(`scrolling ${RUNS} runs`, await scrolling(stage, 'runs', RUNS)),
      ...framesFigures(`scrolling ${WORKFLOWS} workflows`, await scrolling(stage, 'workflows', WORKFLOWS)),
      ...framesFigures(`${TEXT_KB} kB of text streaming`, await streaming(stage)),
    ];
  } finally {
    writer.begin();
    writer.finish();
    await browser.close();
    await system.stop();
    await writer.close();
  }
}

function framesFigures(name: string, { cpu, wall }: Traced): Figure[] {
  const longest = ({ longTasks }: Frames) => Math.max(0, ...longTasks);
  const most = (value: number) => ({ at: 'most' as const, value, of: 'value' as const });
  return [
    { name: `${name}: scripting per frame, CPU p95`, value: p95(cpu.scripting), unit: 'ms', goal: most(8) },
    { name: `${name}: scripting per frame, wall p95`, value: p95(wall.scripting), unit: 'ms' },
    { name: `${name}: tasks over 50 ms CPU`, value: cpu.longTasks.length, unit: 'tasks', goal: most(0) },
    { name: `${name}: longest task over 50 ms, wall`, value: longest(wall), unit: 'ms' },
  ];
}

/** With an empty cache each time, signed in. */
async function firstLoad({ system, context }: Stage, browser: Browser): Promise<Figure[]> {
  const storageState = await context.storageState();
  const times: number[] = [];
  const requested = new Set<string>();
  for (let at = 0; at < LOADS; at += 1) {
    const fresh = await browser.newContext({ storageState, viewport: { width: 1_360, height: 850 } });
    const page = await fresh.newPage();
    if (at === 0) page.on('request', (request) => requested.add(new URL(request.url()).pathname));
    await page.addInitScript(WATCH_FOR_LIST);
    await page.goto(addressOf(system, 'workflows'));
    const ready = await page.waitForFunction(() => performance.getEntriesByName('list-shown')[0]?.startTime);
    times.push(Number(await ready.jsonValue()));
    await fresh.close();
  }
  const assets = [...requested].filter((path) => /\/assets\/.*\.(js|css)$/.test(path));
  const sizes = assets.map(
    async (path) => (await stat(join(system.consoleFolder, `${path.replace('/console/', '')}.gz`))).size,
  );
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  return [
    {
      name: 'first load: scripts and styles, gzip',
      value: bytes,
      unit: 'bytes',
      goal: { at: 'most', value: 300_000, of: 'value' },
    },
    { name: 'first load: scripts and styles', value: assets.length, unit: 'files' },
    {
      name: 'first load: list shown and New enabled, median',
      value: median(times),
      unit: 'ms',
      goal: { at: 'most', value: 1_500, of: 'value' },
    },
    { name: 'first load: the same, slowest', value: Math.max(...times), unit: 'ms' },
  ];
}

/** Runs in the page, before its own scripts: marks the time at which the list is there and can be used. */
const WATCH_FOR_LIST = `
  (function look() {
    const button = [...document.querySelectorAll('button')].find((each) => each.textContent.includes('New workflow'));
    if (button?.disabled === false && document.querySelector('[data-row-link]')) performance.mark('list-shown');
    else requestAnimationFrame(look);
  })();
`;

async function dragging({ system, page }: Stage): Promise<Traced> {
  await page.goto(addressOf(system, 'workflows/large'));
  await nodeOf(page, 'trigger').waitFor();
  await page.getByRole('button', { name: /^Fit the workflow/ }).click();
  await page.waitForTimeout(1_000);
  const box = await nodeOf(page, 'step_50').boundingBox();
  if (box === null) throw new Error('the canvas does not show step_50');
  const x = box.x + box.width / 2;
  const y = box.y + box.height / 4;
  await page.mouse.move(x, y);
  await page.mouse.down();
  const traced = await traceFrames(page, async () => {
    for (let at = 1; at <= MOVES; at += 1) {
      await page.mouse.move(x + Math.sin(at / 12) * 150, y - at / 2);
      await page.waitForTimeout(FRAME_MS);
    }
  });
  await page.mouse.up();
  return traced;
}

async function scrolling(
  { system, context }: Stage,
  name: 'runs' | 'workflows',
  total: number,
): Promise<Traced> {
  const page = await context.newPage();
  await withRows(page, name === 'runs' ? 'workflowruns' : 'workflows', total);
  await page.goto(addressOf(system, name));
  const shown = `${total.toLocaleString('en')} ${name}`;
  await page.getByRole('status').filter({ hasText: shown }).waitFor({ timeout: PATIENCE_MS });
  await page.getByRole('table').hover();
  await page.waitForTimeout(1_000);
  const traced = await traceFrames(page, async () => {
    const end = performance.now() + SCROLL_MS;
    while (performance.now() < end) {
      await page.mouse.wheel(0, 120);
      await page.waitForTimeout(FRAME_MS);
    }
  });
  await page.close();
  return traced;
}

async function streaming({ system, writer, page }: Stage): Promise<Traced> {
  const call = await fetch(`${system.gateway.publicURL}/webhook/${PROJECT}.writer/write`, { method: 'POST' });
  const { run } = (await call.json()) as { run: string };
  await page.goto(addressOf(system, `runs/${run}?workflow=writer`));
  const agent = page.getByText('agent_1').first();
  await agent.waitFor();
  if (!(await page.getByRole('log').isVisible())) await agent.click();
  await page.getByRole('log').waitFor();
  const traced = await traceFrames(page, async () => {
    writer.begin();
    await pollUntil(
      'the whole text on the page',
      async () => ((await page.getByRole('log').textContent())?.length ?? 0) >= TEXT_KB * 1_000,
      { timeoutMs: PATIENCE_MS, everyMs: 500 },
    );
  });
  writer.finish();
  return traced;
}

function addressOf({ consoleURL }: ConsoleSystem, path: string): string {
  return new URL(`p/${PROJECT}/${path}`, consoleURL).href;
}

function writerObjects({ baseURL }: Writer): object[] {
  const object = (kind: string, spec: object) => ({
    apiVersion: 'windlass.dev/v1alpha1',
    kind,
    metadata: { name: 'writer' },
    spec,
  });
  const agent = { credential: 'writer', model: 'writer', prompt: 'Write.' };
  return [
    object('Credential', { openai: { baseURL, apiKeyRef: { name: 'accounts', key: 'model-api-key' } } }),
    object('Workflow', {
      active: true,
      nodes: [
        { id: 'trigger', webhook: { path: 'write' } },
        { id: 'agent_1', agent },
      ],
    }),
  ];
}
