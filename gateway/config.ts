/**
 * The gateway's configuration: its environment, read and validated once. An invalid value stops the process.
 */
import * as z from 'zod';
import {
  commaList,
  httpURL,
  integer,
  jsonText,
  logLevel,
  parseEnvironment,
  redisURL,
} from '../api/environment.ts';
import { parseDuration } from '../api/duration.ts';
import { AUDIENCE } from './access/identity.ts';
import type { ConsoleSettings, OidcSettings } from './endpoint/deps.ts';
import { isNetwork } from './limits/addresses.ts';
import { limitSettings } from './limits/settings.ts';

const port = (fallback: number) => integer(0, 65_535).default(fallback);
const seconds = (fallback: number) => z.coerce.number().min(0).max(600).default(fallback);

const IDLE_MS = { least: 60_000, most: 7 * 24 * 3_600_000 };

function readIdleTimeout(text: string, context: z.RefinementCtx): number {
  const ms = durationOrNothing(text);
  if (ms !== undefined && ms >= IDLE_MS.least && ms <= IDLE_MS.most) return ms;
  context.addIssue({ code: 'custom', message: 'must be a duration from 1m to 7d, such as 30m' });
  return z.NEVER;
}

function durationOrNothing(text: string): number | undefined {
  try {
    return parseDuration(text);
  } catch {
    return undefined;
  }
}

const environment = z
  .object({
    /** The pod's name, which names its Lease. */
    POD_NAME: z.string().min(1),
    /** The namespace of the pod and its Lease. */
    POD_NAMESPACE: z.string().min(1),
    /** The pod's UID: the Lease is deleted with the pod. Left out: the Lease expires. */
    POD_UID: z.string().min(1).optional(),
    /** Outside a cluster: path of the kubeconfig. */
    KUBECONFIG: z.string().min(1).optional(),
    /** Namespaces to serve, comma-separated. Left out: all. */
    WATCH_NAMESPACES: commaList.default([]),
    /** URL of the run store, without user and password. */
    REDIS_URL: redisURL,
    REDIS_USERNAME: z.string().min(1).optional(),
    REDIS_PASSWORD: z.string().min(1).optional(),
    /** For rediss://: PEM file with the certificate authorities. Left out: public ones. */
    REDIS_CA_FILE: z.string().min(1).optional(),
    /** Listener for everyone. */
    PUBLIC_PORT: port(8080),
    /** Listener for callers with a token, and for probes. */
    INTERNAL_PORT: port(8081),
    METRICS_PORT: port(9090),
    /**
     * Folders with tls.crt and tls.key for these two listeners, reloaded on change. Left out: HTTP without
     * TLS.
     */
    PUBLIC_TLS_DIR: z.string().min(1).optional(),
    INTERNAL_TLS_DIR: z.string().min(1).optional(),
    /** External URL of the public listener, without a path. Left out: no credential can be connected. */
    PUBLIC_URL: httpURL.optional(),
    /** False: neither console nor pass-through to the Kubernetes API. */
    CONSOLE_ENABLED: z.stringbool().default(true),
    /** Folder with the console's files. */
    CONSOLE_DIR: z.string().min(1).default('/app/console'),
    /** Origin of the console in browsers, without a path. Left out: any host. */
    CONSOLE_URL: z
      .url({ protocol: /^https?$/ })
      .refine(
        (url) => /^[^/]+:\/\/[^/?#@]+\/?$/.test(url),
        'must be an origin, such as https://windlass.example.com',
      )
      .transform((url) => new URL(url).origin)
      .optional(),
    /** A console session ends after this time without use, for example 30m or 1h. */
    CONSOLE_IDLE_TIMEOUT: z.string().default('1h').transform(readIdleTimeout),
    /** Whether people may ask a language model for drafts. The gateway only tells the console. */
    CONSOLE_HELP_ME_BUILD: z.stringbool().default(false),
    /** The OpenID Connect provider that the API server trusts. Left out: users sign in with tokens only. */
    CONSOLE_OIDC_ISSUER: z.url({ protocol: /^https?$/ }).optional(),
    CONSOLE_OIDC_CLIENT_ID: z
      .string()
      .min(1)
      .refine((id) => id !== AUDIENCE, 'must not be "windlass", which is the audience of tokens for Windlass')
      .optional(),
    /** Left out: a public client. */
    CONSOLE_OIDC_CLIENT_SECRET: z.string().min(1).optional(),
    CONSOLE_OIDC_SCOPES: z
      .string()
      .default('openid email profile offline_access')
      .transform((text) => text.split(/[\s,]+/).filter((scope) => scope !== ''))
      .refine((scopes) => scopes.includes('openid'), 'must include openid'),
    /** Label of the sign-in button. */
    CONSOLE_OIDC_LABEL: z.string().min(1).max(60).default('Sign in with single sign-on'),
    /** Address to bind to. Left out: all, IPv6 and IPv4. */
    BIND_ADDRESS: z.string().min(1).optional(),
    /** Limits as a JSON object. Missing members have defaults. */
    LIMITS: jsonText(limitSettings).default(limitSettings.parse({})),
    /** Proxies whose X-Forwarded-For is trusted: addresses and networks, comma-separated. Left out: none. */
    TRUSTED_PROXIES: commaList
      .refine((networks) => networks.every(isNetwork), 'must be addresses or networks, such as 10.0.0.0/8')
      .default([]),
    /** How long requests are accepted after SIGTERM, with `Connection: close` in each answer. */
    DRAIN_SECONDS: seconds(3),
    /** How long answers in progress are awaited after that. */
    CLOSE_SECONDS: seconds(30),
    /** False: no audit trail on stdout. LOG_LEVEL does not affect it. */
    AUDIT_ENABLED: z.stringbool().default(true),
    /** Audit lines per second about refused and failed calls; the lines of five seconds may come at once. */
    AUDIT_REFUSED_PER_SECOND: integer(1, 10_000).default(10),
    /** True: a line for each request, or for a sample of them. */
    ACCESS_LOG_ENABLED: z.stringbool().default(false),
    /** Sampled share of requests without a problem, 0 to 1. */
    ACCESS_LOG_SAMPLE: z.coerce.number().min(0).max(1).default(1),
    LOG_LEVEL: logLevel,
  })
  .refine(
    ({ CONSOLE_OIDC_ISSUER: issuer, CONSOLE_OIDC_CLIENT_ID: client }) =>
      (issuer === undefined) === (client === undefined),
    {
      path: ['CONSOLE_OIDC_CLIENT_ID'],
      message: 'must be set together with CONSOLE_OIDC_ISSUER',
    },
  );

export type GatewayConfig = z.infer<typeof environment>;

/** Reads the environment. Throws an Error that names every missing or invalid variable, never a value. */
export function readConfig(env: Record<string, string | undefined>): GatewayConfig {
  return parseEnvironment(environment, env, 'gateway');
}

/** The configuration, and the environment with the API server's address in a pod. */
export function gatewayConfig(): { config: GatewayConfig; env: Record<string, string | undefined> } {
  return { config: readConfig(process.env), env: process.env };
}

/** Undefined if the console is disabled. */
export function consoleSettings(config: GatewayConfig): ConsoleSettings | undefined {
  if (!config.CONSOLE_ENABLED) return undefined;
  const { CONSOLE_DIR: dir, CONSOLE_URL: url, CONSOLE_IDLE_TIMEOUT: idleMs } = config;
  return { dir, url, idleMs, oidc: oidcSettings(config), helpMeBuild: config.CONSOLE_HELP_ME_BUILD };
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
