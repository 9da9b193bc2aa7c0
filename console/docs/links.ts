/** Which page of the documentation explains what the editor shows. Pure. A test checks each place. */
import type { CredentialKind } from '../../api/credential.ts';
import type { NodeKind } from '../../api/workflow.ts';
import type { DocPlace } from './doc.ts';

export const NODE_DOCS: Record<NodeKind, DocPlace> = {
  manual: { page: 'triggers' },
  webhook: { page: 'webhooks' },
  schedule: { page: 'triggers/schedule' },
  mail: { page: 'triggers/mail' },
  spreadsheet: { page: 'triggers/spreadsheet' },
  fileStorage: { page: 'triggers/files' },
  bot: { page: 'triggers/bot' },
  chat: { page: 'chat' },
  agent: { page: 'agents' },
  skill: { page: 'skills' },
  response: { page: 'webhooks' },
  group: { page: 'language', hash: 'groups-loops-and-waits' },
  wait: { page: 'language', hash: 'waits' },
  workflow: { page: 'language', hash: 'running-other-workflows' },
  fail: { page: 'language', hash: 'when-it-goes-wrong' },
  code: { page: 'code' },
};

/** Skills whose heading has their name. */
const SKILLS: Record<string, string> = {
  read_rows: 'read_rows-append_row-update_row',
  append_row: 'read_rows-append_row-update_row',
  update_row: 'read_rows-append_row-update_row',
  upload_file: 'upload_file-download_file',
  download_file: 'upload_file-download_file',
  http_request: 'http_request',
  set: 'set',
  remove_duplicates: 'remove_duplicates',
  send_email: 'send_email',
  reply_email: 'reply_email',
  send_message: 'send_message',
};

/** The page of a node: of a skill its own part. */
export function nodeDoc(kind: NodeKind, skill?: string): DocPlace {
  const isKnown = kind === 'skill' && skill !== undefined && Object.hasOwn(SKILLS, skill);
  const hash = isKnown ? SKILLS[skill] : undefined;
  return hash === undefined ? NODE_DOCS[kind] : { ...NODE_DOCS[kind], hash };
}

export const CREDENTIAL_DOCS: Record<CredentialKind, DocPlace> = {
  smtp: { page: 'credentials', hash: 'smtp' },
  imap: { page: 'credentials', hash: 'imap' },
  openai: { page: 'credentials', hash: 'openai' },
  anthropic: { page: 'credentials', hash: 'anthropic' },
  http: { page: 'credentials', hash: 'http' },
  bot: { page: 'credentials', hash: 'bot' },
  s3: { page: 'credentials', hash: 's3' },
  oauth2: { page: 'credentials', hash: 'oauth2' },
};

export const EXPRESSION_DOC: DocPlace = { page: 'expressions', hash: 'values-in-cel' };
export const REFERENCE_DOC: DocPlace = { page: 'expressions', hash: 'references' };

/** The groups of settings of a workflow. */
export const SETTING_DOCS = {
  Failures: { page: 'execution', hash: 'when-a-run-fails' },
  Runs: { page: 'execution', hash: 'limits-of-a-workflow' },
  History: { page: 'execution', hash: 'what-is-recorded' },
  'Budget of agents': { page: 'budgets' },
  About: { page: 'console', hash: 'workflow-settings' },
} satisfies Record<string, DocPlace>;

/** Reasons of failures that have a part of their own. */
const REASONS: Record<string, DocPlace> = {
  MissingValue: { page: 'expressions', hash: 'what-is-not-there' },
  ConditionFailed: { page: 'expressions', hash: 'errors' },
  CredentialMissing: { page: 'credentials', hash: 'whether-it-works' },
  CredentialRejected: { page: 'credentials', hash: 'whether-it-works' },
  BudgetExceeded: { page: 'budgets' },
  PriceUnknown: { page: 'models' },
  StepLimit: { page: 'agents', hash: 'limits-and-how-an-agent-fails' },
  InvalidToolCall: { page: 'agents', hash: 'limits-and-how-an-agent-fails' },
  CallbackTimeout: { page: 'callbacks' },
  CodeError: { page: 'code', hash: 'failures' },
  CodeTimeout: { page: 'code', hash: 'failures' },
  CodeMemoryExceeded: { page: 'code', hash: 'failures' },
  EffectUnknown: { page: 'execution', hash: 'retry-from-the-failed-node' },
};

/** The page about failures with this reason. */
export function reasonDoc(reason: string): DocPlace {
  return REASONS[reason] ?? { page: 'language', hash: 'when-it-goes-wrong' };
}

/** The places of all reasons that have one of their own. */
export const REASON_DOCS: readonly DocPlace[] = Object.values(REASONS);
/** The places of all skills. */
export const SKILL_DOCS: readonly DocPlace[] = Object.keys(SKILLS).map((name) => nodeDoc('skill', name));
