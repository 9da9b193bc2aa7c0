/** The register of verifiers: one file and one line each. */
import type { KeyScheme } from '../../api/webhookAuth.ts';
import { basic } from './basic.ts';
import { bearer } from './bearer.ts';
import { github } from './github.ts';
import { hmac } from './hmac.ts';
import { slack } from './slack.ts';
import { standardWebhooks } from './standardWebhooks.ts';
import { telegram } from './telegram.ts';
import type { Scheme } from './verifier.ts';

export const SCHEMES: Record<KeyScheme, Scheme> = {
  hmac,
  standardWebhooks,
  github,
  bearer,
  basic,
  telegram,
  slack,
};
