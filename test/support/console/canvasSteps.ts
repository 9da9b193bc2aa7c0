/** Steps of a user on the canvas, by pointer and keyboard. */
import type { Locator, Page } from 'playwright-core';
import { choose } from './steps.ts';

/** The edge between two nodes. */
export function edgeOf(page: Page, from: string, to: string): Locator {
  return page.locator(`.react-flow__edge[data-id="${from}>${to}"]`);
}

/** All edges on the canvas, such as `trigger>agent_1`, sorted. */
export async function edgesOn(page: Page): Promise<string[]> {
  const edges = page.locator('.react-flow__edge');
  const ids: string[] = await edges.evaluateAll((each) =>
    each.map((edge) => edge.getAttribute('data-id') ?? ''),
  );
  return ids.toSorted();
}

/** Inserts a node with the + of an edge under the pointer; its panel opens. */
export async function insertBetween(page: Page, from: string, to: string, choice: string): Promise<void> {
  await edgeOf(page, from, to).hover({ force: true });
  await page.getByRole('button', { name: `Insert a node between ${from} and ${to}` }).click();
  await choose(page, choice);
}

/** Draws an edge with the pointer. */
export async function drawEdge(page: Page, from: string, to: string): Promise<void> {
  const end = (id: string, side: string) =>
    page.locator(`.react-flow__node[data-id="${id}"] .react-flow__handle.${side}`).first();
  await end(from, 'source').dragTo(end(to, 'target'));
}

/** Presses Tab until the target has the focus. */
export async function tabToElement(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let pressed = 0; pressed < 40; pressed += 1) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('the Tab key does not lead there');
}

/** Waits until the opened panel has the focus. */
export async function panelFocused(page: Page): Promise<void> {
  await page.locator('[data-node-panel]:focus').waitFor();
}

/** Drags a node, or a group by its header, so that its top left corner is at this offset of another node. */
export async function dragNode(
  page: Page,
  id: string,
  to: { node: string; x: number; y: number },
): Promise<void> {
  const card = await boxOf(page, id);
  const target = await boxOf(page, to.node);
  const grip = { x: card.x + 30, y: card.y + card.height / 2 };
  await page.mouse.move(grip.x, grip.y);
  await page.mouse.down();
  await page.mouse.move(grip.x + 8, grip.y + 8, { steps: 3 });
  await page.mouse.move(target.x + to.x + 30, target.y + to.y + card.height / 2, { steps: 12 });
  await page.mouse.up();
}

async function boxOf(
  page: Page,
  id: string,
): Promise<{ x: number; y: number; width: number; height: number }> {
  const box = await page.locator(`[data-card="${id}"]`).boundingBox();
  if (box === null) throw new Error(`the node ${id} is not shown`);
  return box;
}
