/** How long people wait until the draft is stored, and until a published version answers. */
import type { Page } from 'playwright-core';
import { canvasOpened, draftSaved, view, writeYaml, yamlOn } from '../support/console/steps.ts';
import { manifestOf } from '../support/console/filledProject.ts';
import { addressOf, discard, PROJECT, type Harness } from './consoleScenes.ts';

const TIMES = 5;
/** The draft is stored one second after the last change (`autosave.ts`). */
const PAUSE_MS = 1_000;
/** Drafts are stored at most this often. */
const EVERY_MS = 5_500;
const PATIENCE_MS = 60_000;
const NAME = 'edited';

const workflowOf = (version: number) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name: NAME },
  spec: {
    active: true,
    nodes: [
      { id: 'trigger', webhook: { path: 'version', auth: { none: {} } } },
      { id: 'reply', response: { body: { version } } },
    ],
  },
});

/** The time beyond the pause until the page says that the draft is saved, in ms, for each change. */
export async function savingDraft(harness: Harness): Promise<number[]> {
  const page = await opened(harness);
  const times: number[] = [];
  for (let at = 0; at < TIMES; at += 1) {
    const field = page.getByLabel('Workflow name');
    await field.fill(`Version ${at}`);
    await page.evaluate(WATCH_BADGE);
    await field.press('Enter');
    await draftSaved(page);
    times.push(Number(await page.evaluate('window.savedAfter')) - PAUSE_MS);
    await page.waitForTimeout(EVERY_MS);
  }
  await discard(page);
  await page.close();
  return times;
}

/** The time from the confirmation until the gateway answers with the new version, in ms, for each. */
export async function publishing(harness: Harness): Promise<number[]> {
  const page = await opened(harness);
  const times: number[] = [];
  for (let version = 1; version <= TIMES; version += 1) {
    await view(page, 'YAML');
    const text = await yamlOn(page);
    await writeYaml(page, text.replace(/version: \d+$/m, `version: ${version}`));
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish these changes?' });
    await dialog.getByText('Changed: reply').waitFor();
    const start = performance.now();
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
    await served(harness, version);
    times.push(performance.now() - start);
    await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  }
  await page.close();
  return times;
}

async function opened({ system, context }: Harness): Promise<Page> {
  await system.apply(PROJECT, manifestOf([workflowOf(0)]));
  await system.harness.waitFor(PROJECT, NAME, { type: 'Ready', status: 'True' }, PATIENCE_MS);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(addressOf(system, `workflows/${NAME}`));
  await canvasOpened(page, 'reply');
  return page;
}

/** Each attempt is an event of its own, and ends with its reply. */
async function served({ system }: Harness, version: number): Promise<void> {
  const url = `${system.gateway.publicURL}/webhook/${PROJECT}.${NAME}/version`;
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const answer = await fetch(url, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    const text = await answer.text();
    if (answer.ok && text.includes(`"version":${version}`)) return;
  }
  throw new Error(`version ${version} was not served within ${PATIENCE_MS} ms`);
}

/**
 * Runs in the page. The change is made by the key that follows; the badge then says that the draft is not
 * saved, and later that it is.
 */
const WATCH_BADGE = `document.addEventListener(
  'keydown',
  () => {
    const changedAt = performance.now();
    const isSaved = () =>
      document.querySelector('[aria-label="Unpublished changes. The draft is saved."]') !== null;
    let wasUnsaved = false;
    (function check() {
      if (!isSaved()) wasUnsaved = true;
      else if (wasUnsaved) return void (window.savedAfter = performance.now() - changedAt);
      requestAnimationFrame(check);
    })();
  },
  { once: true, capture: true },
)`;
