/**
 * The only Trusted Types policy of the page. Mantine writes theme variables through innerHTML of a style
 * element and no other code uses such a sink. Only text that cannot be markup passes: any `<` is refused.
 */
type PolicyFactory = {
  createPolicy: (name: string, rules: { createHTML: (text: string) => string }) => unknown;
};

/** Installs the policy as the browser's default. Does nothing in browsers without Trusted Types. */
export function installTrustedTypes(): void {
  const { trustedTypes } = globalThis as { trustedTypes?: PolicyFactory };
  trustedTypes?.createPolicy('default', { createHTML: styleText });
}

/** Returns the text. Throws a TypeError for text that could be markup. */
export function styleText(text: string): string {
  if (text.includes('<')) throw new TypeError('only style sheets are written as text');
  return text;
}
