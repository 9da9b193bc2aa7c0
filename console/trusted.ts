/**
 * The one Trusted Types policy of the page. Mantine writes its theme's variables through innerHTML of a style element; nothing else of
 * ours uses such a sink. So text passes only where it can be nothing but a style sheet: any `<` is refused.
 */
type PolicyFactory = {
  createPolicy: (name: string, rules: { createHTML: (text: string) => string }) => unknown;
};

/** Makes the policy that the browser then uses by itself ("default"). Does nothing where the browser knows no Trusted Types. */
export function installTrustedTypes(): void {
  const { trustedTypes } = globalThis as { trustedTypes?: PolicyFactory };
  trustedTypes?.createPolicy('default', { createHTML: styleText });
}

/** Returns the text. Throws a TypeError for text that could be markup. */
export function styleText(text: string): string {
  if (text.includes('<')) throw new TypeError('only style sheets are written as text');
  return text;
}
