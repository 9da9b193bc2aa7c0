/** Variables of a project: the keys of a ConfigMap, which expressions read as `$vars.<name>`. */

/** The name of the ConfigMap. */
export const VARIABLES_NAME = 'windlass-variables';
