/** What the gateway was told about the console. */
import type { GatewayConfig } from '../config.ts';

export type ConsoleSettings = {
  /** The folder with index.html and assets. */
  dir: string;
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
  return config.CONSOLE_ENABLED ? { dir: config.CONSOLE_DIR, oidc: oidcSettings(config) } : undefined;
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
