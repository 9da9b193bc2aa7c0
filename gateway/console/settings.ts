/** What the gateway was told about the console. */
import type { GatewayConfig } from '../config.ts';

export type ConsoleSettings = {
  /** The folder with index.html and assets. */
  dir: string;
  /** The origin that browsers reach it at; undefined: whatever they say. */
  url: string | undefined;
  /** After how long without use a session ends. */
  idleMs: number;
  /** Undefined: people sign in with tokens alone. */
  oidc: OidcSettings | undefined;
};

/** The provider whose ID tokens the API server takes. */
export type OidcSettings = {
  issuer: string;
  clientID: string;
  /** Left out for a public client. */
  clientSecret?: string;
  scopes: readonly string[];
  /** What the button says. */
  label: string;
};

/** Undefined where the installation has no console. */
export function consoleSettings(config: GatewayConfig): ConsoleSettings | undefined {
  if (!config.CONSOLE_ENABLED) return undefined;
  const { CONSOLE_DIR: dir, CONSOLE_URL: url, CONSOLE_IDLE_TIMEOUT: idleMs } = config;
  return { dir, url, idleMs, oidc: oidcSettings(config) };
}

function oidcSettings(config: GatewayConfig): OidcSettings | undefined {
  const { CONSOLE_OIDC_ISSUER: issuer, CONSOLE_OIDC_CLIENT_ID: clientID } = config;
  if (issuer === undefined || clientID === undefined) return undefined;
  return {
    issuer,
    clientID,
    ...(config.CONSOLE_OIDC_CLIENT_SECRET !== undefined && {
      clientSecret: config.CONSOLE_OIDC_CLIENT_SECRET,
    }),
    scopes: config.CONSOLE_OIDC_SCOPES,
    label: config.CONSOLE_OIDC_LABEL,
  };
}
