/** How a workflow of n8n becomes one of Windlass: the page cannot convert it, but the command line can. */
export const N8N_HINT =
  'Save it as workflow.json, and run: windlass import n8n workflow.json -o imported. Then paste the manifest of the Workflow that it writes; import-report.json says what to review.';
