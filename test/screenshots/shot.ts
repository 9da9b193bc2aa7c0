/** What a picture is, and the steps that several of them begin with. */
import type { Page } from 'playwright-core';

/** `medium`: a small laptop; `wide`: for the README. */
export type Appearance = 'light' | 'dark' | 'medium' | 'narrow' | 'wide';

export type Shot = {
  name: string;
  /** Below the host. */
  path: string;
  /**
   * `both`: an editor of two projects; `newcomer`: an editor of an empty project; `nobody`: not signed in.
   */
  who: 'editor' | 'reader' | 'both' | 'newcomer' | 'nobody';
  appearances: readonly Appearance[];
  /**
   * Requests that must fail for the picture, by the browser's line on them; any other that fails is a defect.
   */
  fails?: RegExp;
  /** The picture is about a page that waits or cannot load. Others are taken once everything is loaded. */
  isBusy?: true;
  /** Resolves when the page shows what the picture is about. */
  ready: (page: Page) => Promise<unknown>;
};

export const ALL = ['light', 'dark', 'medium', 'narrow'] as const;
export const BOTH = ['light', 'dark'] as const;

export const shows = (text: string | RegExp) => (page: Page) => page.getByText(text).first().waitFor();
export const canvas = (page: Page) => page.locator('.react-flow__node').first().waitFor();

/** Presses the button, then waits for what has that label. */
export const clicked = (button: string | RegExp, label: string | RegExp) => async (page: Page) => {
  await page.getByRole('button', { name: button }).first().click();
  await page.getByLabel(label).first().waitFor();
};
