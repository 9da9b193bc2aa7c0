/**
 * Writes what is derived from `api/` (the CRDs, the chart's copy of them, the field reference, JSON Schemas),
 * from `store/` (the accounts of Redis) and from `cli/` (its page). `npm run generate`.
 */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { crdOf, rootSchema } from '../api/crd.ts';
import { GROUP } from '../api/group.ts';
import { CREDENTIAL, KINDS, PROJECT_SETTINGS, WEBHOOK_ROUTE, WORKFLOW } from '../api/kinds.ts';
import { TOKENS } from '../api/token.ts';
import { COMMANDS } from '../cli/commands.ts';
import { SKILLS } from '../nodes/register.ts';
import { aclUsers } from '../store/accounts.ts';
import { cliPage } from './cliReference.ts';
import { mistakesPage } from './mistakes.ts';
import { referencePage, skillsPage } from './reference.ts';
import { anySchema, kindSchema, schemaFile } from './schemas/kinds.ts';
import { skillTables } from './skillTable.ts';

const root = join(import.meta.dirname, '..');
const HEADER = '# Generated from api/ by `npm run generate`. Do not edit.\n';
const TEMPLATE_HEADER = '{{- /* Generated from api/ by `npm run generate`. Do not edit. */}}\n';
/** Where a node names Secrets. */
const AUTH = 'webhook.auth.';
const CHAT_TOKENS = 'chat.tokenRefs';
/** The kinds that people write. */
const WRITTEN = KINDS.filter((kind) => kind !== WEBHOOK_ROUTE);
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const yaml = (value: unknown) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

const written = new Set<string>();

/** Leaves a file alone that is as it must be: tests read these files at the same time. */
function write(path: string, text: string): void {
  written.add(path);
  const file = join(root, path);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
}

/**
 * The chart's copy: kept when the release is removed (deleting a CRD deletes every object of it), and
 * optional.
 */
function chartCopy(crd: ReturnType<typeof crdOf>): string {
  const annotated = structuredClone(crd) as { metadata: Record<string, unknown> };
  annotated.metadata.annotations = { 'helm.sh/resource-policy': 'keep' };
  const escaped = yaml(annotated).replaceAll('{{', '{{ "{{" }}');
  return `${HEADER}{{- if .Values.crds.install }}\n${escaped}{{- end }}\n`;
}

/** A template of the chart that yields one path a line. */
function template(name: string, paths: string[]): string {
  return `{{- define "windlass.${name}" -}}\n${paths.join('\n')}\n{{- end }}\n`;
}

type Schema = { properties?: Record<string, Schema>; items?: Schema };

/** The paths of the fields that name Secrets: `smtp.passwordRef`. */
function secretPaths(schema: Schema, path: string[] = []): string[] {
  const fields = Object.entries({ ...schema.properties, ...schema.items?.properties });
  return fields.flatMap(([name, field]) => {
    const here = [...path, name];
    return /Refs?$/.test(name) ? [here.join('.')] : secretPaths(field, here);
  });
}

/**
 * What the admission policy asks the right for: a field that names a Secret and is not among these would be a
 * way around it.
 */
function secretFields(): string {
  const specOf = (kind: typeof CREDENTIAL) => (rootSchema(kind) as Schema).properties?.['spec'] ?? {};
  const ofNodes = secretPaths(specOf(WORKFLOW).properties?.['nodes'] ?? {});
  const ofWebhooks = ofNodes.filter((path) => path.startsWith(AUTH));
  const strange = ofNodes.find((path) => !path.startsWith(AUTH) && path !== CHAT_TOKENS);
  if (strange) throw new Error(`nodes name Secrets in ${strange}: admission.yaml does not read it`);
  return [
    TEMPLATE_HEADER,
    template('tokensSecret', [TOKENS]),
    template('secretsOfCredentials', secretPaths(specOf(CREDENTIAL))),
    template(
      'secretsOfWebhooks',
      ofWebhooks.map((path) => path.slice(AUTH.length)),
    ),
  ].join('');
}

/**
 * The paths below a node of the fields that name a Credential: `mail.credential`, `agent.tools[].credential`.
 */
function credentialPaths(schema: Schema, path = ''): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = path === '' ? name : `${path}.${name}`;
    if (name === 'credential') return [here];
    if (/credential/i.test(name))
      throw new Error(`${here}: call a field that names a Credential "credential"`);
    return field.items ? credentialPaths(field.items, `${here}[]`) : credentialPaths(field, here);
  });
}

/** What the admission policy asks the right to use credentials for. */
function credentialFields(): string {
  const spec = (rootSchema(WORKFLOW) as Schema).properties?.['spec'] ?? {};
  const paths = credentialPaths(spec.properties?.['nodes']?.items ?? {});
  const deep = paths.find((path) => path.split('[]').length > 2);
  if (deep) throw new Error(`${deep}: admission-use.yaml reads one list at a time`);
  return `${TEMPLATE_HEADER}${template('credentialsOfNodes', paths)}`;
}

/** What the admission policy checks of skills. */
function skillFields(): string {
  const tables = Object.entries(skillTables(SKILLS));
  return [
    TEMPLATE_HEADER.replace('from api/', 'from nodes/'),
    ...tables.map(([name, table]) => template(name, [table])),
  ].join('');
}

for (const kind of KINDS) {
  const crd = crdOf(kind);
  write(`crds/${kind.plural}.yaml`, HEADER + yaml(crd));
  write(`charts/windlass/templates/crds/${kind.plural}.yaml`, chartCopy(crd));
  write(`docs/reference/${kind.plural}.md`, referencePage(kind));
}
for (const kind of WRITTEN) write(`docs/schemas/${schemaFile(kind)}`, json(kindSchema(kind, SKILLS)));
write('docs/schemas/windlass.json', json(anySchema(WRITTEN)));
write('charts/windlass/templates/_secrets.tpl', secretFields());
write('charts/windlass/templates/_credentials.tpl', credentialFields());
write('charts/windlass/templates/_skills.tpl', skillFields());
write(
  'charts/windlass/files/redis/accounts.acl',
  `# Generated from store/accounts.ts by \`npm run generate\`. Do not edit.\n${aclUsers()}`,
);
write('docs/reference/skills.md', skillsPage(SKILLS));
write('docs/reference/mistakes.md', mistakesPage());
write('docs/cli.md', cliPage(COMMANDS));
const health = readFileSync(join(root, 'docs/gitops/health.lua'), 'utf8');
for (const { kind } of [WORKFLOW, CREDENTIAL, PROJECT_SETTINGS])
  write(`docs/gitops/resource_customizations/${GROUP}/${kind}/health.lua`, health);
for (const path of globSync(['crds/*', 'docs/schemas/*'], { cwd: root }))
  if (!written.has(path)) rmSync(join(root, path));
console.log(`generated ${KINDS.length} CRDs, their chart copies, JSON Schemas and the reference pages`);
