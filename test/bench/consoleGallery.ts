/** Opening the gallery of nodes with many skills. */
import type { Page } from 'playwright-core';
import { canvasOpened } from '../support/console/steps.ts';
import { addressOf, type Harness } from './consoleScenes.ts';

/** How many skills the gallery has: those of the page, over and over under other names. */
export const SKILLS = 300;

const OPENINGS = 7;

/** The time from the click until the list is drawn, in ms, for each opening. */
export async function openingGallery({ system, context }: Harness): Promise<number[]> {
  const page = await context.newPage();
  await page.addInitScript(MANY_SKILLS);
  await page.goto(addressOf(system, 'workflows/order-confirmation'));
  await canvasOpened(page, 'reply');
  const times: number[] = [];
  for (let at = 0; at < OPENINGS; at += 1) times.push(await opening(page));
  await page.close();
  return times;
}

async function opening(page: Page): Promise<number> {
  const time: unknown = await page.evaluate(OPEN);
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await page.getByLabel('Search nodes').waitFor({ state: 'detached' });
  return Number(time);
}

const MANY_SKILLS = `(() => {
  const parse = JSON.parse;
  JSON.parse = (...given) => {
    const value = parse(...given);
    if (!Array.isArray(value?.skills) || value.triggers === undefined) return value;
    const skills = Array.from({ length: ${SKILLS} }, (_, at) => {
      const skill = value.skills[at % value.skills.length];
      return { ...skill, name: at < value.skills.length ? skill.name : skill.name + '_' + at };
    });
    return { ...value, skills };
  };
})()`;

const OPEN = `(async () => {
  const drawn = () => new Promise(requestAnimationFrame);
  const start = performance.now();
  document.querySelector('[aria-label^="Add a node after"]').click();
  while (document.querySelectorAll('[role="option"]').length < ${SKILLS}) await drawn();
  await drawn();
  await drawn();
  return performance.now() - start;
})()`;
