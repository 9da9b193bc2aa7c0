/**
 * `console`: what people wait for in the console, in a real Chromium: the first load, dragging, long lists,
 * text that streams.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { signInAt, startChromium, visit } from '../support/console/chromium.ts';
import { manifestOf, fillProject } from '../support/console/filledProject.ts';
import { EDITOR, startConsoleSystem } from '../support/console/consoleSystem.ts';
import {
  addressOf,
  ARRIVING_EACH_SECOND,
  arriving,
  dragging,
  PROJECT,
  scrolling,
  streaming,
  TEXT_KB,
  type Harness,
} from './consoleScenes.ts';
import { publishing, savingDraft } from './consoleEditing.ts';
import { addLargeDraft, CONNECTIONS, LARGE_DRAFT, NODES } from './consoleLargeDraft.ts';
import { openingGallery, SKILLS } from './consoleGallery.ts';
import { startWriter, writerObjects } from './consoleWriter.ts';
import { p95, type Traced } from './frames.ts';
import { median, type Figure } from './report.ts';

const LOADS = 7;
/** How often each scene is played. */
const TIMES = 3;
const RUNS = 5_000;
const WORKFLOWS = 1_000;
const PATIENCE_MS = 60_000;

export async function consoleSpeed(): Promise<Figure[]> {
  const writer = await startWriter(TEXT_KB);
  const system = await startConsoleSystem();
  const browser = await startChromium({ optimizes: true });
  try {
    await fillProject(system, PROJECT);
    await system.apply(PROJECT, manifestOf(writerObjects(writer)));
    await system.harness.waitFor(PROJECT, 'writer', { type: 'Ready', status: 'True' }, PATIENCE_MS);
    const { context, page } = await visit(browser);
    page.setDefaultTimeout(PATIENCE_MS);
    await signInAt(page, system.consoleURL, await system.tokenWith(PROJECT, 'ada', EDITOR));
    return await measure({ system, writer, context, page }, browser);
  } finally {
    writer.begin();
    writer.finish();
    await browser.close();
    await system.stop();
    await writer.close();
  }
}

async function measure(harness: Harness, browser: Browser): Promise<Figure[]> {
  const load = await firstLoad(harness, browser);
  const drags = await repeated(() => dragging(harness, { workflow: 'large', node: 'step_50' }));
  await addLargeDraft(harness);
  const largest = await repeated(() => dragging(harness, LARGE_DRAFT));
  const runs = await repeated(() => scrolling(harness, 'runs', RUNS));
  const workflows = await repeated(() => scrolling(harness, 'workflows', WORKFLOWS));
  const arrivals = await repeated(() => arriving(harness, 'runs', RUNS));
  const texts = await repeated(() => streaming(harness));
  const openings = await openingGallery(harness);
  const saves = await savingDraft(harness);
  const publications = await publishing(harness);
  return [
    ...load,
    ...framesFigures(
      'dragging one of 100 nodes',
      drags.map(({ drag }) => drag),
    ),
    ...taskFigures(
      'dropping one of 100 nodes',
      drags.map(({ drop }) => drop),
    ),
    ...framesFigures(
      `dragging one of ${NODES} nodes with ${CONNECTIONS} connections`,
      largest.map(({ drag }) => drag),
    ),
    ...taskFigures(
      `dropping one of ${NODES} nodes with ${CONNECTIONS} connections`,
      largest.map(({ drop }) => drop),
    ),
    ...framesFigures(`scrolling ${RUNS} runs`, runs),
    ...framesFigures(`scrolling ${WORKFLOWS} workflows`, workflows),
    ...taskFigures(`${ARRIVING_EACH_SECOND} runs/s coming into ${RUNS}`, arrivals),
    ...framesFigures(`${TEXT_KB} kB of text streaming`, texts),
    {
      name: `opening the gallery with ${SKILLS} skills: median`,
      value: median(openings),
      unit: 'ms',
      goal: atMost(100),
    },
    ...waitFigures('draft saved, after the pause', saves, 300),
    ...waitFigures('published version answers, after the confirmation', publications, 1_000),
  ];
}

function waitFigures(name: string, times: readonly number[], most: number): Figure[] {
  return [
    { name: `${name}: median`, value: median(times), unit: 'ms', goal: atMost(most) },
    { name: `${name}: slowest`, value: Math.max(...times), unit: 'ms' },
  ];
}

async function repeated<T>(play: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let at = 0; at < TIMES; at += 1) results.push(await play());
  return results;
}

const atMost = (value: number) => ({ at: 'most' as const, value, of: 'value' as const });

/** The median of the scene's repetitions for what each frame takes. */
function framesFigures(name: string, traced: Traced[]): Figure[] {
  const scripting = (clock: keyof Traced) => median(traced.map((each) => p95(each[clock].scripting)));
  return [
    { name: `${name}: scripting per frame, CPU p95`, value: scripting('cpu'), unit: 'ms', goal: atMost(8) },
    { name: `${name}: scripting per frame, wall p95`, value: scripting('wall'), unit: 'ms' },
    { name: `${name}: frames`, value: median(traced.map(({ cpu }) => cpu.frames)), unit: 'frames' },
    ...taskFigures(name, traced),
  ];
}

/** What holds up the page once holds up a person: the longest task of all repetitions. */
function taskFigures(name: string, traced: Traced[]): Figure[] {
  const longest = (clock: keyof Traced) => Math.max(...traced.map((each) => each[clock].longestTask));
  return [
    { name: `${name}: longest task, CPU`, value: longest('cpu'), unit: 'ms', goal: atMost(50) },
    { name: `${name}: longest task, wall`, value: longest('wall'), unit: 'ms' },
  ];
}

/** With an empty cache each time, signed in. */
async function firstLoad({ system, context }: Harness, browser: Browser): Promise<Figure[]> {
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
  (function check() {
    const button = [...document.querySelectorAll('button')].find((each) => each.textContent.includes('New workflow'));
    if (button?.disabled === false && document.querySelector('[data-row-link]')) performance.mark('list-shown');
    else requestAnimationFrame(check);
  })();
`;
