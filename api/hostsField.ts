/** The field `allowedHosts` of a credential. `hosts.ts` has the meaning of its entries. */
import * as z from 'zod';
import { HAS_PATH, HOST_ENTRY, HOST_PROBLEM, PATH_PROBLEM, hostEntryProblem, isHostEntry } from './hosts.ts';
import { rules } from './value.ts';

const matches = ({ source }: RegExp) => `self.matches(${JSON.stringify(source)})`;

/** Rules instead of a pattern: the API server would show only the pattern. */
const entry = z
  .string()
  .min(1)
  .max(270)
  .refine(isHostEntry, { error: ({ input }) => hostEntryProblem(String(input)) })
  .meta({
    description: 'A host with an optional scheme and port.',
    ...rules(
      { rule: `!${matches(HAS_PATH)}`, message: PATH_PROBLEM },
      { rule: `${matches(HAS_PATH)} || ${matches(HOST_ENTRY)}`, message: HOST_PROBLEM },
    ),
  });

const FORM =
  'api.example.com (https, port 443), api.example.com:8443 (https, that port), http://api.shop.svc:8080 (plain HTTP), *.example.com (every subdomain), "*" (every host and port over https)';

/** A list of hosts. `description` must not end with a full stop. */
export const allowedHosts = (description: string) =>
  z.array(entry).max(64).describe(`${description}. Entries: ${FORM}.`);
