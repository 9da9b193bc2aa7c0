import { expect, test } from 'vitest';
import { defaultPort } from './ports.ts';

const SMTP = 'Port of the mail server. Default: 465 with TLS, 587 with StartTLS, 25 with None.';
const IMAP = 'Port of the mail server. Default: 993 with TLS, else 143.';

test.each([
  [SMTP, 'StartTLS', '587'],
  [SMTP, 'TLS', '465'],
  [SMTP, 'None', '25'],
  [IMAP, 'TLS', '993'],
  [IMAP, 'None', '143'],
])('by %j the port with %s is %s', (description, tls, port) => {
  expect(defaultPort(description, tls)).toBe(port);
});

test('a description without ports names none', () => {
  expect(defaultPort('Port of the server.', 'TLS')).toBeUndefined();
});
