/** The sender of mail, as a credential names it: an address, or a name with an address in angle brackets. */

/** As RE2 and JavaScript read it. The mail server decides whether the address exists. */
export const SENDER = '^(?:.*<[^<>@\\s]+@[^<>@\\s]+>|[^<>@\\s,;]+@[^<>@\\s,;]+)$';

export const NO_SENDER = 'is not an email address: write orders@example.com or "Orders <orders@example.com>"';

export function isSender(text: string): boolean {
  return new RegExp(SENDER, 'u').test(text);
}
