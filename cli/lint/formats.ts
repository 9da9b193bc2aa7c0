/** The formats of what `lint` found: text, JSON, commands of GitHub Actions, SARIF. */
import { relative } from 'node:path';
import type { Terminal } from '../shared/terminal.ts';
import type { Finding } from './finding.ts';

export type Format = 'text' | 'json' | 'github' | 'sarif';

type Result = { findings: readonly Finding[]; objects: number };

/** The whole output in a format; empty where it has nothing to say. */
export function formatFindings(format: Format, result: Result, terminal: Pick<Terminal, 'paint'>): string {
  if (format === 'json') return JSON.stringify(result, null, 2);
  if (format === 'github') return result.findings.map(githubCommand).join('\n');
  if (format === 'sarif') return JSON.stringify(sarifLog(result.findings), null, 2);
  return result.findings.map((finding) => textLine(finding, terminal)).join('\n');
}

/** `2 errors and 1 warning in 40 objects`, for people. */
export function summary({ findings, objects }: Result): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const warnings = findings.length - errors;
  const found = `${counted(errors, 'error')} and ${counted(warnings, 'warning')}`;
  return `${findings.length === 0 ? 'nothing wrong' : found} in ${counted(objects, 'object')}`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function textLine(
  { file, line, column, severity, rule, message }: Finding,
  terminal: Pick<Terminal, 'paint'>,
) {
  const shown = terminal.paint(severity === 'error' ? 'red' : 'yellow', severity);
  return `${terminal.paint('bold', `${file}:${line}:${column}`)}: ${shown}: ${message} ${terminal.paint('dim', `[${rule}]`)}`;
}

/** https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions */
function githubCommand({ file, line, column, severity, rule, message }: Finding): string {
  const properties = { file, line, col: column, title: rule };
  const written = Object.entries(properties).map(
    ([name, value]) => `${name}=${escapeProperty(String(value))}`,
  );
  return `::${severity} ${written.join(',')}::${escapeData(message)}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

const SARIF = 'https://json.schemastore.org/sarif-2.1.0.json';

function sarifLog(findings: readonly Finding[]): object {
  const rules = [...new Set(findings.map(({ rule }) => rule))];
  return {
    $schema: SARIF,
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'windlass lint', rules: rules.map((id) => ({ id })) } },
        results: findings.map((finding) => sarifResult(finding, rules)),
      },
    ],
  };
}

function sarifResult(
  { file, line, column, severity, rule, message }: Finding,
  rules: readonly string[],
): object {
  return {
    ruleId: rule,
    ruleIndex: rules.indexOf(rule),
    level: severity,
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(file) },
          region: { startLine: line, startColumn: column },
        },
      },
    ],
  };
}

/** Below the folder in which the command is executed, as code scanning expects it. */
function uriOf(file: string): string {
  return relative('.', file).split('/').map(encodeURIComponent).join('/');
}
