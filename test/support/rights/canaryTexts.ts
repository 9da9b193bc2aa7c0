/**
 * What is planted where secrets and requests are: texts with quotes, backslashes, percent signs and line
 * breaks around them, of which none may be found where it does not belong.
 */
import { createCanary } from './canaries.ts';

const AWKWARD = [`p"ä'\\ %+/=&<`, '&<>~"\\'] as const;
/** What headers can hold. */
const PRINTABLE = [`p"'\\ %+/=&<`, '&<>~"x'] as const;

/** What credentials and webhooks are made of, each in a key of one Secret. */
export const inSecrets = {
  smtp: createCanary('password of a mail account', ...AWKWARD),
  model: createCanary('API key', ...PRINTABLE),
  'model-away': createCanary('API key of a model that is away', ...PRINTABLE),
  basic: createCanary('password of an API', ...AWKWARD),
  bearer: createCanary('token of an API', ...PRINTABLE),
  header: createCanary('header of an API', ...PRINTABLE),
  query: createCanary('parameter of an API', ...AWKWARD),
  'no-header': createCanary('header that cannot be sent', 'line\n', '\r\nx'),
  hmac: createCanary('secret of hmac', ...AWKWARD),
  github: createCanary('secret of github', ...AWKWARD),
  'hook-bearer': createCanary('secret of bearer', ...PRINTABLE),
  'hook-basic': createCanary('secret of basic', ...PRINTABLE),
  'hook-bad': createCanary('secret with a line break', 'a\n', '\n'),
};
/** What callers send and is refused. */
export const sent = {
  token: createCanary('token that nobody knows'),
  authorization: createCanary('authorization of a webhook', ...PRINTABLE),
  signature: createCanary('signature of a webhook'),
  header: createCanary('header that is not admitted', ...PRINTABLE),
  longKey: createCanary('key that is too long', 'k'.repeat(1_100)),
  notJson: createCanary('body that is no JSON', '{"a": ', ' '),
  tooDeep: createCanary('body that is too deep', '['.repeat(80), ''),
  tooLarge: createCanary('body that is too large'),
  form: createCanary('body of another type', 'a=', '&b'),
  path: createCanary('path', '', '%22%5c'),
  search: createCanary('query', 'a%22', '%5c'),
};
/** What is stored, and where. */
export const stored = {
  key: createCanary('key of an event', `k"'\\`, '%&'),
  input: createCanary('input', ...AWKWARD),
};
export const redisPassword = createCanary('wrong password of the run store', ...PRINTABLE);
export const damaged = createCanary('value of a wrong type', ...AWKWARD);
/** What no program has repeated, so that the search itself can be tried. */
export const planted = createCanary('planted', ...AWKWARD);
/** A value that the API server does not take. */
export const refused = createCanary('refused', ...AWKWARD);
