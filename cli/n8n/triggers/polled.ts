/** Triggers that poll: mail, Google Sheets and Google Drive. */
import { listOf, memberOf, numberOf, objectOf, textOf } from '../model/json.ts';
import { shortType } from '../model/n8n.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { type Field, draftOf } from './event.ts';

const OF_MAIL: Field[] = [
  [['subject'], '.data_content.subject'],
  [['Subject'], '.data_content.subject'],
  [['From'], '.data_content.from'],
  [['snippet'], '.text_content'],
  [['text'], '.text_content'],
  [['textPlain'], '.text_content'],
  [['html'], '.data_content.html'],
  [['textHtml'], '.data_content.html'],
  [['date'], '.data_content.date'],
];

const UNITS: Record<string, number> = { minutes: 60, hours: 3600 };

/** How often it polls; the usual minute is left out. */
function intervalOf(context: NodeContext): { pollIntervalSeconds?: number } {
  const items = listOf(memberOf(context.parameters, 'pollTimes.item')).map(objectOf);
  const [first, ...others] = items;
  const mode = textOf(first?.['mode'], 'everyMinute');
  const seconds =
    mode === 'everyHour'
      ? 3600
      : mode === 'everyX'
        ? (numberOf(first?.['value']) ?? 1) * (UNITS[textOf(first?.['unit'], 'hours')] ?? 60)
        : 60;
  if (others.length > 0 || !['everyMinute', 'everyHour', 'everyX'].includes(mode))
    context.note('review', `it polls every ${seconds} seconds, not at the times that n8n has`);
  return seconds > 60 ? { pollIntervalSeconds: Math.min(Math.round(seconds), 86_400) } : {};
}

export function convertMail(context: NodeContext): Draft {
  const { id, node, parameters } = context;
  const isGmail = shortType(node.type) === 'gmailTrigger';
  const credential = context.credential(isGmail ? ['gmailOAuth2'] : ['imap']);
  const from = textOf(memberOf(parameters, 'filters.sender')).replace(/^=.*/s, '');
  if (textOf(memberOf(parameters, 'filters.q')) !== '')
    context.note('review', 'a search is not imported: filter by from and subject');
  const text = JSON.stringify(context.workflow.nodes.map(({ parameters }) => parameters));
  if (isGmail && /\$json\.(?:id|threadId|labelIds)\b|\.json\.(?:id|threadId)\b/.test(text))
    context.note('review', 'the event has no ID of Gmail: id and threadId are the Message-ID');
  const d = `nodes.${id}.data_content`;
  const wantsFiles =
    memberOf(parameters, 'options.downloadAttachments') === true ||
    parameters['downloadAttachments'] === true;
  const mailbox = textOf(parameters['mailbox'], 'INBOX');
  return draftOf(context, {
    trigger: {
      mail: {
        ...intervalOf(context),
        credential,
        ...(mailbox !== 'INBOX' && mailbox !== '' && { mailbox }),
        ...(from !== '' && { from }),
        ...(wantsFiles && { attachments: 'Content' as const }),
      },
    },
    list: `[{ id: ${d}.message_id, threadId: ${d}.message_id, subject: ${d}.subject, Subject: ${d}.subject, From: ${d}.from, To: (${d}.to ?? []).join(', '), from: { text: ${d}.from, value: [{ address: /[^<\\s]+@[^>\\s]+/.exec(${d}.from)?.[0] ?? ${d}.from, name: ${d}.from.replace(/\\s*<.*/, '') }] }, to: { text: (${d}.to ?? []).join(', ') }, snippet: nodes.${id}.text_content, text: nodes.${id}.text_content, textPlain: nodes.${id}.text_content, html: ${d}.html, textHtml: ${d}.html, date: ${d}.date, headers: {}, attachments: ${d}.attachments ?? [] }]`,
    fields: isGmail ? OF_MAIL : [...OF_MAIL, [['from'], '.data_content.from']],
  });
}

export function convertSheetsTrigger(context: NodeContext): Draft {
  const { id, parameters } = context;
  const event = textOf(parameters['event'], 'rowAdded');
  const events =
    event === 'rowAdded'
      ? ['added' as const]
      : event === 'rowUpdate'
        ? ['updated' as const]
        : ['added' as const, 'updated' as const];
  const sheet = textOf(memberOf(context.node.parameters, 'sheetName.cachedResultName'));
  return draftOf(context, {
    trigger: {
      spreadsheet: {
        ...intervalOf(context),
        credential: context.credential(['googleSheetsTriggerOAuth2Api', 'googleSheetsOAuth2Api']),
        spreadsheetId: textOf(parameters['documentId']).replace(/^=.*/s, '') || 'replace-me',
        ...(sheet !== '' && { sheet }),
        events,
      },
    },
    list: `nodes.${id}.data_content.changes.map(({ row, values }) => ({ row_number: row, ...values }))`,
    isList: true,
    isMany: true,
  });
}

export function convertDriveTrigger(context: NodeContext): Draft {
  const { id, parameters } = context;
  const given = textOf(parameters['folderToWatch']).replace(/^=.*/s, '');
  const folder = /\/folders\/([\w-]+)/.exec(given)?.[1] ?? given;
  const event = textOf(parameters['event'], 'fileCreated');
  const isUpdate = /updated/i.test(event);
  if (/^folder|watchFolder/.test(event)) context.note('review', 'only files start runs, not folders');
  const f = `nodes.${id}.data_content.file`;
  return draftOf(context, {
    trigger: {
      fileStorage: {
        ...intervalOf(context),
        credential: context.credential(['googleDriveOAuth2Api']),
        ...(folder !== '' && folder !== 'root' && { folderId: folder }),
        events: [isUpdate ? 'modified' : 'added'],
      },
    },
    list: `[{ id: ${f}.id, name: ${f}.name, originalFilename: ${f}.name, mimeType: ${f}.mime_type, size: ${f}.size, modifiedTime: ${f}.modified_time, parents: [${f}.folder_id], webViewLink: ${f}.url }]`,
    fields: [
      [['id'], '.data_content.file.id'],
      [['name'], '.data_content.file.name'],
      [['mimeType'], '.data_content.file.mime_type'],
      [['webViewLink'], '.data_content.file.url'],
    ],
  });
}
