/**
 * Which scopes of an account the parts of workflows need, so that connecting a credential requests those that
 * its workflows use.
 */
import type { CredentialSpec } from '../api/credential.ts';
import type { Preset } from '../api/provider.ts';
import type { AgentTool, SkillStep } from '../api/step.ts';
import { kindOf, type WorkflowNode } from '../api/workflow.ts';
import type { ScopeUse } from './contract/provider.ts';
import { PROVIDERS } from './providers/register.ts';

/**
 * By preset; Google's separately for mail that is read by IMAP. The scopes of custom providers are not known.
 */
export type Scopes = Partial<Record<Preset | 'googleImap', readonly string[]>>;

/** The scopes that the node needs of an account; undefined where none are known. */
export function scopesOf(node: WorkflowNode): Scopes | undefined {
  return scopesForUse(useOf(node));
}

/** The scopes that a tool of an agent needs of an account; undefined where none are known. */
export function scopesOfTool({ skill, parameters }: AgentTool): Scopes | undefined {
  if (skill === undefined) return undefined;
  return scopesForUse(useOfSkill({ name: skill, ...(parameters && { parameters }) }));
}

function scopesForUse(use: ScopeUse): Scopes | undefined {
  const scopes: Scopes = {};
  for (const { oauth2 } of PROVIDERS) {
    const found = oauth2 && scopesIn(oauth2.scopes, use);
    const byImap = oauth2?.preset === 'google' && scopesIn(oauth2.scopes, `${use}ByImap`);
    if (found) scopes[oauth2.preset] = found;
    if (byImap) scopes.googleImap = byImap;
  }
  return Object.keys(scopes).length === 0 ? undefined : scopes;
}

function scopesIn(
  scopes: Readonly<Record<string, readonly string[]>>,
  use: string,
): readonly string[] | undefined {
  return Object.hasOwn(scopes, use) ? scopes[use] : undefined;
}

function useOf(node: WorkflowNode): ScopeUse {
  if (node.skill) return useOfSkill(node.skill);
  return node.spreadsheet?.spreadsheetId?.includes('://') ? 'spreadsheetByURL' : kindOf(node);
}

function useOfSkill(skill: SkillStep): ScopeUse {
  return addsOnly(skill) ? 'upload_file_new' : skill.name;
}

/**
 * Whether the step only adds new files to the top of the drive. With the narrow scope Google shows neither a
 * folder that somebody else created nor a file that is to be replaced.
 */
function addsOnly({ name, parameters: { folderId = '', overwrite = false } = {} }: SkillStep): boolean {
  return name === 'upload_file' && folderId === '' && overwrite === false;
}

/** The scopes that an account like that must have granted. */
export function scopesFor(scopes: Scopes | undefined, { oauth2 }: CredentialSpec): readonly string[] {
  const { preset = 'custom', imap } = oauth2 ?? {};
  const byImap = preset === 'google' && imap ? scopes?.googleImap : undefined;
  return byImap ?? scopes?.[preset] ?? [];
}
