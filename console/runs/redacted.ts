/** Instead of an output that the workflow keeps out of its records. */
export const REDACTED =
  'Not recorded: the workflow (recordData, history.dataTTL) or the node (sensitive) keeps this output out of records.';
