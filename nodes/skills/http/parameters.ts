/**
 * The parameters of `http_request`. Guarantees that no header injects another one, and that no URL contains a
 * login.
 */
import * as z from 'zod';
import { toText } from '../../../api/expression/evaluate.ts';
import { isHeaderName, isHeaderValue } from '../../../api/headers.ts';
import type { Method } from '../../http/request.ts';
import { headerNameProblem } from '../../providers/http/authority.ts';
import { urlProblem } from '../../http/url.ts';
import { exactAsText, textParameter } from '../../contract/skill.ts';

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
] as const satisfies readonly Method[];

export const RESPONSE_BYTES = { default: 262_144, most: 393_216 } as const;
const REDIRECTS = { default: 5, most: 10 } as const;

const headers = z
  .record(
    z.string(),
    textParameter(8_192, 'The value of the header.'),
    'must be an object of names and values',
  )
  .superRefine((values, context) => {
    for (const [name, value] of Object.entries(values)) {
      const problem =
        headerNameProblem(name) ??
        (isHeaderValue(value)
          ? undefined
          : 'holds a line break or another character that HTTP headers cannot hold');
      // An invalid name is not repeated: it may contain anything.
      const place = isHeaderName(name)
        ? { path: [name], message: problem }
        : { message: `a name ${problem}` };
      if (problem !== undefined) context.addIssue({ code: 'custom', ...place });
    }
  });

const scalar = exactAsText(z.union([z.string(), z.number(), z.boolean(), z.null()]));
const query = z.record(
  z.string().max(256),
  z.union(
    [scalar, z.array(scalar).max(100)],
    'must be a text, a number, true, false, null, or a list of these',
  ),
  'must be an object of names and values',
);

const status = z.union(
  [z.int().min(100).max(599), z.literal(['1xx', '2xx', '3xx', '4xx', '5xx'])],
  'must be a status such as 404, or a class of them such as "2xx"',
);

export const parameters = z
  .strictObject({
    method: z
      .preprocess(
        (value) => (typeof value === 'string' ? value.toUpperCase() : value),
        z.enum(METHODS, `must be one of ${METHODS.join(', ')}`).default('GET'),
      )
      .meta({ type: 'string', description: `One of ${METHODS.join(', ')}. Default GET.` }),
    url: textParameter(
      8_192,
      'An absolute URL with https or http. Values of references are encoded for their place in the path or the query.',
    ).superRefine((value, context) => {
      const problem = urlProblem(value);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    }),
    query: query
      .optional()
      .describe(
        'Parameters to add to the query of the URL. A list adds one for each element, null adds none.',
      ),
    headers: headers.optional().describe('Headers to send.'),
    body: z
      .unknown()
      .optional()
      .describe(
        'The body: text is sent as it is, any other value as JSON, or as a form if contentType says so.',
      ),
    contentType: textParameter(
      256,
      'The Content-Type of the body. Default application/json, or text/plain for a text.',
    )
      .refine(isHeaderValue, 'holds a line break or another character that HTTP headers cannot hold')
      .optional(),
    response: z
      .enum(['auto', 'json', 'text'], 'must be auto, json or text')
      .optional()
      .describe(
        'How to read the answer. auto: JSON if its Content-Type says so, else text; what is neither, as base64. Default auto.',
      ),
    expect: z
      .preprocess(
        (value) => (value === undefined || Array.isArray(value) ? value : [value]),
        z.array(status).min(1).max(50),
      )
      .optional()
      .meta({
        type: 'array',
        description:
          'The statuses that are a success: numbers, and classes such as "2xx". Default 2xx. With any other the step fails.',
      }),
    followRedirects: z
      .int('must be a whole number')
      .min(0)
      .max(REDIRECTS.most)
      .default(REDIRECTS.default)
      .describe(
        `How many redirects to follow. Default ${REDIRECTS.default}, at most ${REDIRECTS.most}, 0 for none.`,
      ),
    maxResponseBytes: z
      .int('must be a whole number')
      .min(1)
      .max(RESPONSE_BYTES.most)
      .default(RESPONSE_BYTES.default)
      .describe(
        `How large the answer may be, uncompressed. Default ${RESPONSE_BYTES.default}, at most ${RESPONSE_BYTES.most}. A larger one fails the step.`,
      ),
  })
  .refine(({ method, body }) => body === undefined || (method !== 'GET' && method !== 'HEAD'), {
    path: ['body'],
    message: 'cannot be sent with GET or HEAD: choose another method',
  });

export type Parameters = z.infer<typeof parameters>;

/** Whether the status is one that the step takes for a success. */
export function isExpected(status: number, expect: Parameters['expect'] = ['2xx']): boolean {
  return expect.some((each) => each === status || each === `${Math.floor(status / 100)}xx`);
}

/** The values of one parameter of the query, as texts. */
export function queryTexts(value: NonNullable<Parameters['query']>[string]): string[] {
  return [value].flat().flatMap((each) => (each === null ? [] : [toText(each)]));
}
