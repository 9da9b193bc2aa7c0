/**
 * A person who connects a credential, up to the answer of the provider, which a test may change before it is
 * brought.
 */
import { expect } from 'vitest';
import { createBrowser, signIn, type Browser } from '../providers/oauth/browser.ts';
import type { OAuthHarness } from './oauthHarness.ts';

/** What the provider answered to somebody who signed in; nobody has brought it yet. */
export async function answerFor(
  harness: OAuthHarness,
  name: string,
  account: string,
): Promise<{ browser: Browser; url: URL }> {
  const browser = createBrowser();
  const isCallback = (url: string) => url.startsWith(`${harness.gateway.publicURL}/oauth/callback`);
  const { url } = await signIn(browser, await harness.link(name), { account, stop: isCallback });
  return { browser, url: new URL(url) };
}

/** The same address with another value of that parameter, or without it. */
export function withParameter(url: URL, name: string, value: string | undefined): string {
  const other = new URL(url);
  if (value === undefined) other.searchParams.delete(name);
  else other.searchParams.set(name, value);
  return other.href;
}

/** Whether it is as if nobody had ever brought anything: no token came, and none is stored. */
export async function expectNothing(harness: OAuthHarness, name: string, before: number): Promise<void> {
  const { status } = await harness.said(name, 'NotConnected');
  expect(status?.account).toBeUndefined();
  expect(Object.keys(await harness.entries('windlass-tokens'))).not.toContain(name);
  expect(harness.provider.granted('authorization_code')).toBe(before);
}
