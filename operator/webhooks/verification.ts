/** How a route verifies callers, by the auth policy of the workflow with defaults filled in. Pure. */
import { PUBLIC } from '../../api/access.ts';
import { boundedDuration, DURATION_BOUNDS } from '../../api/duration.ts';
import type { RouteSpec, Verification } from '../../api/route.ts';
import type { WebhookAuth } from '../../api/trigger.ts';
import type { SecretKeyRef } from '../../api/value.ts';
import { AUTH_SCHEMES } from '../../api/webhookAuth.ts';

type Webhook = NonNullable<RouteSpec['webhook']>;

const TOLERANCE_SECONDS = 300;

/** Without a scheme the webhook is public. The material is added later. */
export function verificationOf(auth: WebhookAuth | undefined): Pick<Webhook, 'access' | 'verify'> {
  const access = AUTH_SCHEMES.find((scheme) => auth?.[scheme] !== undefined);
  if (auth === undefined || access === undefined) return { access: PUBLIC };
  const tolerance = auth.hmac?.tolerance ?? auth.standardWebhooks?.tolerance;
  const verify: Verification = {
    secretRefs: refsOf(auth),
    toleranceSeconds: secondsOf(tolerance),
    ...(auth.hmac && { hmac: hmacOf(auth.hmac) }),
    ...(auth.basic && { username: auth.basic.username }),
  };
  return { access, verify };
}

function refsOf({ hmac, standardWebhooks, github, bearer, basic }: WebhookAuth): SecretKeyRef[] {
  const scheme = hmac ?? standardWebhooks ?? github ?? bearer;
  return scheme?.secretRefs ?? basic?.passwordRefs ?? [];
}

function hmacOf(hmac: NonNullable<WebhookAuth['hmac']>): NonNullable<Verification['hmac']> {
  const { header, algorithm = 'sha256', encoding = 'hex', prefix = '', timestampHeader } = hmac;
  return {
    header: header.toLowerCase(),
    algorithm,
    encoding,
    prefix,
    ...(timestampHeader !== undefined && { timestampHeader: timestampHeader.toLowerCase() }),
  };
}

function secondsOf(tolerance: string | undefined): number {
  if (tolerance === undefined) return TOLERANCE_SECONDS;
  return Math.floor(boundedDuration(tolerance, DURATION_BOUNDS.tolerance) / 1_000);
}
