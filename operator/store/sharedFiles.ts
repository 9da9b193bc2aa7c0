/** The files in the folder that the containers of the chart's Redis share when it has TLS, and nobody else reaches. */

/** The socket at which Redis answers without TLS. The chart names it, too. */
export const SOCKET_FILE = 'redis.sock';

/** The password of the account that may have Redis load its certificate. */
export const CERTIFICATE_PASSWORD_FILE = 'certificate-password';
