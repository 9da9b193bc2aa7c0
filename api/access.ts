/** Who may call a webhook: words that the console shares, without any schema. */

/** Who may call a webhook that verifies nobody: anybody who knows the URL. */
export const PUBLIC = 'Public';
/** What routes written by earlier versions say in place of PUBLIC. */
export const FORMERLY_PUBLIC = 'Exposed';
