/** Every scheme that callers of webhooks can be verified by: a file and a line each. */
import type { AuthScheme } from '../../../api/webhookAuth.ts';
import { basic } from './basic.ts';
import { bearer } from './bearer.ts';
import { github } from './github.ts';
import { hmac } from './hmac.ts';
import { standardWebhooks } from './standardWebhooks.ts';
import type { Scheme } from './verifier.ts';

export const SCHEMES: Record<AuthScheme, Scheme> = { hmac, standardWebhooks, github, bearer, basic };
