/** Instead of an output that the workflow keeps out of its records. */
export const REDACTED =
  'Not recorded because of the settings of the workflow (recordData, history.dataTTL) or of the node (sensitive).';
