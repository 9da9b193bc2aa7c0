/** What people do while the console is measured: drag, drop, scroll, watch a model write. */
import type { BrowserContext, Page } from 'playwright-core';
import { nodeOf } from '../support/console/steps.ts';
import { post } from '../support/console/filledProject.ts';
import type { ConsoleSystem } from '../support/console/consoleSystem.ts';
import { pollUntil } from '../support/time/poll.ts';
import type { Writer } from './consoleWriter.ts';
import { traceFrames, type Traced } from './frames.ts';

/** The project that the scenes are in. */
export const PROJECT = 'shop';
/** How long the text is that a model writes. */
export const TEXT_KB = 100;

/** How many runs come in while a list is open. */
export const ARRIVING_EACH_SECOND = 25;
const ARRIVING = 100;

const FRAME_MS = 16;
const MOVES = 150;
const SCROLL_MS = 3_000;
const SETTLE_MS = 1_000;
const PATIENCE_MS = 60_000;

export type Harness = { system: ConsoleSystem; writer: Writer; context: BrowserContext; page: Page };

/**
 * Drags a node of a workflow over the canvas, and drops it: one after the other, since a drop is one moment
 * of its own.
 */
export async function dragging(
  { system, page }: Harness,
  { workflow, node, isDraft = false }: { workflow: string; node: string; isDraft?: boolean },
): Promise<{ drag: Traced; drop: Traced }> {
  await page.goto(addressOf(system, `workflows/${workflow}`));
  await nodeOf(page, 'trigger').waitFor();
  await page.getByRole('button', { name: /^Fit the workflow/ }).click();
  await page.waitForTimeout(SETTLE_MS);
  const box = await nodeOf(page, node).boundingBox();
  if (box === null) throw new Error(`the canvas does not show ${node}`);
  const x = box.x + box.width / 2;
  const y = box.y + box.height / 4;
  // To the middle: the canvas follows what is dragged to its edge.
  const down = y < (page.viewportSize()?.height ?? 0) / 2 ? 1 : -1;
  await page.mouse.move(x, y);
  await page.mouse.down();
  const drag = await traceFrames(page, async () => {
    for (let at = 1; at <= MOVES; at += 1) {
      await page.mouse.move(x + Math.sin(at / 12) * 150, y + (down * at) / 2);
      await page.waitForTimeout(FRAME_MS);
    }
  });
  const drop = await traceFrames(page, async () => {
    await page.mouse.up();
    await page.getByRole('button', { name: 'Publish', exact: true }).waitFor();
    await page.waitForTimeout(SETTLE_MS);
  });
  if (isDraft) await page.getByRole('button', { name: 'Undo', exact: true }).click();
  else await discard(page);
  return { drag, drop };
}

/** Discards the draft, so that the page shows the published version again. */
export async function discard(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
}

type List = 'runs' | 'workflows';

async function listed({ system, context }: Harness, name: List, total: number): Promise<Page> {
  const page = await context.newPage();
  await withRows(page, name === 'runs' ? 'workflowruns' : 'workflows', total);
  await page.goto(addressOf(system, name));
  const shown = `${total.toLocaleString('en')} ${name}`;
  await page.getByRole('status').filter({ hasText: shown }).waitFor({ timeout: PATIENCE_MS });
  await page.getByRole('table').hover();
  await page.waitForTimeout(SETTLE_MS);
  return page;
}

/** Scrolls a list of that many rows with the wheel, as fast as frames come. */
export async function scrolling(harness: Harness, name: List, total: number): Promise<Traced> {
  const page = await listed(harness, name, total);
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

/** Opens a list of that many rows while runs come in and end. */
export async function arriving(harness: Harness, name: List, total: number): Promise<Traced> {
  const page = await listed(harness, name, total);
  const traced = await traceFrames(page, async () => {
    const calls: Promise<unknown>[] = [];
    for (let at = 0; at < ARRIVING; at += 1) {
      calls.push(post(harness.system, `${PROJECT}.stock-check/stock`, { article: at }));
      await page.waitForTimeout(1_000 / ARRIVING_EACH_SECOND);
    }
    await Promise.all(calls);
    await page.waitForTimeout(SETTLE_MS);
  });
  await page.close();
  return traced;
}

/** Watches a run whose agent writes, from the first piece to the last. */
export async function streaming({ system, writer, page }: Harness): Promise<Traced> {
  const run = await startWriting(system);
  await page.goto(addressOf(system, `runs/${run}?workflow=writer`));
  const log = page.getByRole('log', { name: 'Text of agent_1' });
  await log.waitFor();
  const traced = await traceFrames(page, async () => {
    writer.begin();
    await pollUntil(
      'the whole text on the page',
      async () => ((await log.textContent())?.length ?? 0) >= TEXT_KB * 1_000,
      { timeoutMs: PATIENCE_MS, everyMs: 500 },
    );
  });
  writer.finish();
  await page.getByRole('status').filter({ hasText: 'Succeeded' }).waitFor();
  return traced;
}

async function startWriting({ gateway }: ConsoleSystem): Promise<string> {
  const answer = await fetch(`${gateway.publicURL}/webhook/${PROJECT}.writer/write`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  if (!answer.ok) throw new Error(`the webhook answered with ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { run: string }).run;
}

/** The address of a page of the project. */
export function addressOf({ consoleURL }: ConsoleSystem, path: string): string {
  return new URL(`p/${PROJECT}/${path}`, consoleURL).href;
}

type Row = { cells: unknown[]; object: { metadata: { name: string; uid?: string } } };
type Table = { metadata: { continue?: string }; rows: Row[] };

/** Lists of this kind have that many rows: the real ones, over and over under other names. */
async function withRows(page: Page, plural: string, total: number): Promise<void> {
  const list = new RegExp(`/kube/[^?]*/${plural}(\\?|$)`);
  await page.route(list, async (route) => {
    const answer = await route.fetch();
    const table = (await answer.json()) as Table;
    if (!Array.isArray(table.rows) || table.rows.length === 0) return route.fulfill({ response: answer });
    const rows = Array.from({ length: total }, (_, at) => copyOf(table.rows, at));
    const metadata = { ...table.metadata, continue: '' };
    await route.fulfill({ response: answer, json: { ...table, metadata, rows } });
  });
}

function copyOf(rows: Row[], at: number): Row {
  const row = rows[at % rows.length];
  if (row === undefined) throw new Error('there is no row to copy');
  const { metadata } = row.object;
  const name = `${metadata.name}-${at}`;
  return {
    cells: [name, ...row.cells.slice(1)],
    object: { ...row.object, metadata: { ...metadata, name, uid: `${metadata.uid}-${at}` } },
  };
}
