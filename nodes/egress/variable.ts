/** Egress rules in an environment variable. */
import { commaList } from '../../api/environment.ts';
import { egressProblems } from './rules.ts';

/** A comma-separated list of rules. Default: none. */
export const egressList = (list: 'allow' | 'deny') =>
  commaList
    .superRefine((entries, context) => {
      for (const message of egressProblems(list, entries)) context.addIssue({ code: 'custom', message });
    })
    .default([]);
