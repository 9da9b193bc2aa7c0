/** `allowedHosts` of a credential as a field of its schema; what its entries mean is in `hosts.ts`. */
import * as z from 'zod';
import { HOST_ENTRY } from './hosts.ts';

const entry = z
  .string()
  .min(1)
  .max(270)
  .regex(
    HOST_ENTRY,
    'must be a host such as api.example.com, api.example.com:8443 or http://api.shop.svc:8080',
  )
  .describe('A host with an optional scheme and port.');

const FORM =
  'api.example.com (https, port 443), api.example.com:8443 (https, that port), http://api.shop.svc:8080 (plain HTTP), *.example.com (every host below it), "*" (every host and port by https)';

/** The field of a credential that lists hosts. `description` ends without a full stop. */
export const allowedHosts = (description: string) =>
  z.array(entry).max(64).describe(`${description}. Entries: ${FORM}.`);
