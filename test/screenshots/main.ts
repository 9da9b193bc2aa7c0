/**
 * `npm run screenshots`: every page of the console in a real Chromium: light, dark, narrow, empty, with
 * errors, with 100 nodes. `-- NAME`: those pictures whose names contain it. `-- NAME APPEARANCE`: in one
 * appearance only; an empty NAME means all pictures.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { startChromium, signInAt, visit, type VisitorOptions } from '../support/console/chromium.ts';
import { addAgents } from '../support/console/agentViews.ts';
import { addMemories } from '../support/console/memoryViews.ts';
import { addDesk } from '../support/console/editorViews.ts';
import { addLoops } from '../support/console/loopViews.ts';
import { largeWorkflow, manifestOf, fillProject } from '../support/console/filledProject.ts';
import { EDITOR, READER, startConsoleSystem, type ConsoleSystem } from '../support/console/consoleSystem.ts';
import { createProgress, type Update } from '../support/process/progress.ts';
import { settling } from './settled.ts';
import { SHOTS } from './shots.ts';
import type { Appearance, Shot } from './shot.ts';

/** Only pictures whose names contain the first, in the second appearance. */
const [only = '', onlyIn] = process.argv.slice(2);
const folder = join(import.meta.dirname, '../../.windlass/screenshots');

const LAPTOP = { width: 1_440, height: 900 };
const APPEARANCES: Record<Appearance, VisitorOptions> = {
  light: { colorScheme: 'light', viewport: LAPTOP },
  dark: { colorScheme: 'dark', viewport: LAPTOP },
  medium: { colorScheme: 'light', viewport: { width: 1_024, height: 768 } },
  wide: { colorScheme: 'light', viewport: { width: 1_600, height: 720 } },
  narrow: { colorScheme: 'light', viewport: { width: 390, height: 780 }, hasTouch: true },
};

/** On a busy machine, too: its pictures show what a person who waits sees. */
const PATIENCE_MS = 60_000;

type Tokens = Record<Shot['who'], string | undefined>;

async function take(system: ConsoleSystem, browser: Browser, update: Update): Promise<string[]> {
  const tokens: Tokens = {
    editor: await system.tokenWith('shop', 'editor', EDITOR),
    reader: await system.tokenWith('shop', 'reader', READER),
    both: await tokenOfBoth(system),
    newcomer: await system.tokenWith('empty', 'newcomer', EDITOR),
    nobody: undefined,
  };
  const complaints: string[] = [];
  for (const [appearance, options] of Object.entries(APPEARANCES)) {
    if (onlyIn !== undefined && onlyIn !== appearance) continue;
    for (const [who, token] of Object.entries(tokens)) {
      const visitor = await visit(browser, options);
      visitor.page.setDefaultTimeout(PATIENCE_MS);
      const settled = settling(visitor.page);
      const shots = SHOTS.filter(
        ({ name, who: theirs, appearances }) =>
          name.includes(only) && theirs === who && appearances.includes(appearance as Appearance),
      );
      if (token !== undefined) await signInAt(visitor.page, system.consoleURL, token);
      complaints.push(
        ...visitor.complaints.splice(0).map((line) => `${who} signs in, ${appearance}: ${line}`),
      );
      for (const shot of shots) {
        update(`${shot.name}, ${appearance}`);
        const path = join(folder, `${shot.name}-${appearance}.png`);
        const missing = await takeOne(visitor.page, settled, { system, shot, path });
        const wrong = [...missing, ...unexpected(shot, visitor.complaints.splice(0))];
        complaints.push(...wrong.map((line) => `${shot.name}, ${appearance}: ${line}`));
      }
      await visitor.close();
    }
  }
  return complaints;
}

/** What the browser complained of, without the failures that the picture is about: those must be there. */
function unexpected({ fails }: Shot, complaints: string[]): string[] {
  if (fails === undefined) return complaints;
  const others = complaints.filter((line) => !fails.test(line));
  return others.length < complaints.length ? others : [...others, `no request failed like ${fails.source}`];
}

/** Somebody who sees two projects. */
async function tokenOfBoth(system: ConsoleSystem): Promise<string> {
  const workflow = largeWorkflow('invoices', 3);
  await system.createProject('billing');
  await system.apply('billing', manifestOf([workflow, mayView({ name: 'both', namespace: 'shop' })]));
  return system.tokenWith('shop', 'both', EDITOR);
}

function mayView(account: { name: string; namespace: string }): object {
  const group = 'rbac.authorization.k8s.io';
  return {
    apiVersion: `${group}/v1`,
    kind: 'RoleBinding',
    metadata: { name: account.name },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'windlass-view' },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  };
}

/**
 * Takes the picture, also where the page does not show what it should: then it says what is missing.
 * Leaves the page afterwards, so that nothing it asks for counts for the next picture.
 */
async function takeOne(
  page: Page,
  settled: (timeoutMs: number) => Promise<void>,
  { system, shot, path }: { system: ConsoleSystem; shot: Shot; path: string },
): Promise<string[]> {
  const isShown = async (): Promise<void> => {
    await page.goto(new URL(shot.path, system.consoleURL).href);
    await shot.ready(page);
    if (shot.isBusy !== true) await settled(PATIENCE_MS);
  };
  const missing = await isShown().then(
    () => [],
    (error: unknown) => String(error).split('\n', 1),
  );
  await page.screenshot({ path, animations: 'disabled' });
  await page.goto('about:blank');
  return missing;
}

const isAsked = ({ name, appearances }: Shot): boolean =>
  name.includes(only) && (onlyIn === undefined || appearances.some((each) => each === onlyIn));
if (!SHOTS.some(isAsked)) {
  process.stderr.write('No picture has this name in this appearance. The names are in test/screenshots.\n');
  process.exit(2);
}
const progress = createProgress(process.stderr);
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const system = await progress.step('start the system', () => startConsoleSystem());
try {
  await system.createProject('empty');
  await progress.step('fill a project', async () => {
    await fillProject(system, 'shop');
    await addLoops(system, 'shop');
    await addAgents(system, 'shop');
    await addMemories(system, 'shop');
    await addDesk(system, 'shop');
  });
  const browser = await startChromium();
  try {
    const complaints = await progress.step('take the pictures', (update) => take(system, browser, update));
    for (const complaint of complaints) progress.say(`! the browser complained: ${complaint}`);
    if (complaints.length > 0) process.exitCode = 1;
    progress.say(`✓ pictures are in .windlass/screenshots`);
  } finally {
    await browser.close();
  }
} finally {
  await system.stop();
}
