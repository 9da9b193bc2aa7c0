/** The nonce of this page's Content-Security-Policy, for style elements that libraries add. */
export function styleNonce(): string {
  return document.querySelector('meta[name="csp-nonce"]')?.getAttribute('content') ?? '';
}

/** Tells the nonce to the library that keeps the page from scrolling behind a dialog: it looks for this name, and has no other way. */
export function announceNonce(): void {
  Object.assign(globalThis, { __webpack_nonce__: styleNonce() });
}
