/** Which function converts which type of node. */
import type { Draft } from '../steps/items.ts';
import { convertApp, hasApp } from '../apps/register.ts';
import { convertAgent, convertChain, convertExtractor, convertSummary } from '../ai/chains.ts';
import { convertClassifier, convertSentiment } from '../ai/classifiers.ts';
import { convertOldOpenAi, convertOpenAi } from '../ai/openAi.ts';
import { convertCode } from './code.ts';
import { convertDateTime } from './dateTime.ts';
import { convertCrypto, convertFeed, convertXml } from './documents.ts';
import { convertHtml, convertMarkdown } from './html.ts';
import {
  convertAggregate,
  convertItemLists,
  convertLimit,
  convertSort,
  convertSplitOut,
  convertSummarize,
} from './lists.ts';
import { convertRemoveDuplicates } from './duplicates.ts';
import { convertRenameKeys, convertSet } from './set.ts';
import { convertCompareDatasets, convertMerge } from './merge.ts';
import { convertFilter, convertIf, convertNoOp, convertStopAndError, convertSwitch } from './branches.ts';
import { convertWait } from './wait.ts';
import { convertGraphql, convertHttpRequest } from './httpRequest.ts';
import { convertExecute } from './executeWorkflow.ts';
import { convertResponse } from './respond.ts';
import {
  convertCalled,
  convertErrorTrigger,
  convertManual,
  convertUnknownTrigger,
} from '../triggers/manual.ts';
import { convertChat, convertForm, convertServiceWebhook, convertWebhook } from '../triggers/webhook.ts';
import { convertDriveTrigger, convertMail, convertSheetsTrigger } from '../triggers/polled.ts';
import { convertSchedule } from '../triggers/schedule.ts';
import { convertSlackTrigger, convertTelegramTrigger } from '../triggers/bots.ts';
import type { NodeContext } from '../steps/context.ts';

export type Converter = (context: NodeContext) => Draft;

const TRIGGERS: Record<string, Converter> = {
  manualTrigger: convertManual,
  start: convertManual,
  executeWorkflowTrigger: convertCalled,
  scheduleTrigger: convertSchedule,
  cron: convertSchedule,
  interval: convertSchedule,
  webhook: convertWebhook,
  formTrigger: convertForm,
  chatTrigger: convertChat,
  manualChatTrigger: convertChat,
  gmailTrigger: convertMail,
  emailReadImap: convertMail,
  telegramTrigger: convertTelegramTrigger,
  slackTrigger: convertSlackTrigger,
  googleSheetsTrigger: convertSheetsTrigger,
  googleDriveTrigger: convertDriveTrigger,
  errorTrigger: convertErrorTrigger,
  typeformTrigger: convertServiceWebhook,
  githubTrigger: convertServiceWebhook,
  gitlabTrigger: convertServiceWebhook,
  shopifyTrigger: convertServiceWebhook,
  calendlyTrigger: convertServiceWebhook,
  calTrigger: convertServiceWebhook,
  stripeTrigger: convertServiceWebhook,
  jiraTrigger: convertServiceWebhook,
  jotFormTrigger: convertServiceWebhook,
  hubspotTrigger: convertServiceWebhook,
  whatsAppTrigger: convertServiceWebhook,
  wooCommerceTrigger: convertServiceWebhook,
  facebookTrigger: convertServiceWebhook,
  pipedriveTrigger: convertServiceWebhook,
  linearTrigger: convertServiceWebhook,
  clickUpTrigger: convertServiceWebhook,
  zendeskTrigger: convertServiceWebhook,
  trelloTrigger: convertServiceWebhook,
  asanaTrigger: convertServiceWebhook,
};

const STEPS: Record<string, Converter> = {
  set: convertSet,
  splitOut: convertSplitOut,
  aggregate: convertAggregate,
  sort: convertSort,
  limit: convertLimit,
  summarize: convertSummarize,
  renameKeys: convertRenameKeys,
  removeDuplicates: convertRemoveDuplicates,
  itemLists: convertItemLists,
  if: convertIf,
  filter: convertFilter,
  switch: convertSwitch,
  merge: convertMerge,
  noOp: convertNoOp,
  executionData: convertNoOp,
  wait: convertWait,
  stopAndError: convertStopAndError,
  compareDatasets: convertCompareDatasets,
  code: convertCode,
  function: convertCode,
  functionItem: convertCode,
  html: convertHtml,
  htmlExtract: convertHtml,
  markdown: convertMarkdown,
  dateTime: convertDateTime,
  xml: convertXml,
  rssFeedRead: convertFeed,
  crypto: convertCrypto,
  httpRequest: convertHttpRequest,
  graphql: convertGraphql,
  respondToWebhook: convertResponse,
  executeWorkflow: convertExecute,
};

const AI: Record<string, Converter> = {
  agent: convertAgent,
  chainLlm: convertChain,
  openAi: convertOpenAi,
  informationExtractor: convertExtractor,
  textClassifier: convertClassifier,
  sentimentAnalysis: convertSentiment,
  chainSummarization: convertSummary,
};

const ofOwn = (table: Record<string, Converter>, name: string): Converter | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

const split = (type: string): { isAi: boolean; name: string } => ({
  isAi: type.includes('langchain.'),
  name: type.split('.').at(-1) ?? type,
});

/** Whether the node starts executions in n8n. */
export function isTriggerType(type: string): boolean {
  const { name } = split(type);
  return Object.hasOwn(TRIGGERS, name) || name.endsWith('Trigger');
}

export function triggerConverter(type: string): Converter {
  return ofOwn(TRIGGERS, split(type).name) ?? convertUnknownTrigger;
}

/** The converter of a step; undefined if it has no counterpart. */
export function stepConverter(type: string): Converter | undefined {
  const { isAi, name } = split(type);
  if (isAi) return ofOwn(AI, name);
  if (!type.startsWith('n8n-nodes-base.')) return undefined;
  if (name === 'openAi') return convertOldOpenAi;
  return ofOwn(STEPS, name) ?? (hasApp(name) ? convertApp : undefined);
}
