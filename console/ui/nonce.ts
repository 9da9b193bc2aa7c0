/** The nonce of this page's Content-Security-Policy, for style elements that libraries add. */
export function styleNonce(): string {
  return document.querySelector('meta[name="csp-nonce"]')?.getAttribute('content') ?? '';
}

/** Passes the nonce to the library that locks scrolling behind dialogs, which reads only this global. */
export function announceNonce(): void {
  Object.assign(globalThis, { __webpack_nonce__: styleNonce() });
}
