/** An example call of a webhook for a shell, with the headers that its auth policy needs. Pure. */
import type { WebhookAuth, WebhookTrigger } from '../../../api/trigger.ts';

export type Curl = {
  command: string;
  /** Where to find the secret to insert. */
  hint?: string;
};

export function curlOf(url: string, { auth }: WebhookTrigger, body: unknown): Curl {
  const text = JSON.stringify(body ?? {});
  const { headers = [], before = [], data = quoted(text), hint } = auth ? verified(auth, text) : {};
  const call = [
    `curl -X POST ${quoted(url)}`,
    `-H 'content-type: application/json'`,
    ...headers,
    `-d ${data}`,
  ].join(' \\\n  ');
  return { command: [...before, call].join('\n'), ...(hint !== undefined && { hint }) };
}

type Parts = { headers?: string[]; before?: string[]; data?: string; hint?: string };

function verified({ bearer, basic, github, hmac, standardWebhooks }: WebhookAuth, text: string): Parts {
  if (bearer)
    return {
      headers: [`-H 'authorization: Bearer <token>'`],
      hint: `The token is ${where(bearer.secretRefs)}.`,
    };
  if (basic)
    return {
      headers: [`-u ${quoted(`${basic.username}:<password>`)}`],
      hint: `The password is ${where(basic.passwordRefs)}.`,
    };
  if (github)
    return signed(text, {
      secretRefs: github.secretRefs,
      header: 'x-hub-signature-256',
      prefix: 'sha256=',
    });
  if (hmac) return signed(text, hmac);
  if (standardWebhooks)
    return {
      headers: [
        `-H 'webhook-id: <id>'`,
        `-H 'webhook-timestamp: <seconds>'`,
        `-H 'webhook-signature: v1,<signature>'`,
      ],
      hint: `Sign it with a library from standardwebhooks.com. The secret is ${where(standardWebhooks.secretRefs)}.`,
    };
  return {};
}

type Hmac = NonNullable<WebhookAuth['hmac']>;

function signed(
  text: string,
  { secretRefs, header, prefix = '', algorithm, encoding, timestampHeader }: Hmac,
): Parts {
  const digest = `openssl dgst -${algorithm ?? 'sha256'} -hmac "$SECRET"`;
  const message = timestampHeader === undefined ? '"$BODY"' : '"$TIME.$BODY"';
  const sign =
    encoding === 'base64'
      ? `printf %s ${message} | ${digest} -binary | base64 -w 0`
      : `printf %s ${message} | ${digest} -r | cut -d ' ' -f 1`;
  return {
    before: [
      `SECRET='<secret>' BODY=${quoted(text)}${timestampHeader === undefined ? '' : ' TIME=$(date +%s)'}`,
    ],
    headers: [
      ...(timestampHeader === undefined ? [] : [`-H "${timestampHeader}: $TIME"`]),
      `-H "${header}: ${prefix}$(${sign})"`,
    ],
    data: '"$BODY"',
    hint: `The secret is ${where(secretRefs)}.`,
  };
}

function where(refs: readonly { name: string; key: string }[]): string {
  return refs.map(({ name, key }) => `in the Secret ${name}, key ${key}`).join(', or ');
}

/** Quoted as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
