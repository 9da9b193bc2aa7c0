/** The port that an account uses without one of its own, as the description of the field says. Pure. */

/** `description`: such as `Default: 465 with TLS, 587 with StartTLS, 25 with None.` */
export function defaultPort(description: string, tls: string): string | undefined {
  const ports = [...description.matchAll(/(\d+) with (\w+)/g)];
  const [, own] = ports.find(([, , mode]) => mode === tls) ?? [];
  return own ?? /\belse (\d+)/.exec(description)?.[1];
}
