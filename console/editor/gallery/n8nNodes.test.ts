/** A search for a node of n8n finds what does the same here, or tells what to do instead. */
import { expect, test } from 'vitest';
import type { SkillSchema } from '../../forms/schemas.ts';
import { searchHint } from './hints.ts';
import { stepOffers, TRIGGER_OFFERS } from './offers.ts';
import { matchingOffers } from './search.ts';
import { SKILL_CATEGORIES } from './skillCategories.ts';

const skill = (name: string): SkillSchema => ({
  name,
  description: 'Does what its name says.',
  credentials: [],
  credentialIsOptional: false,
  effect: 'AtLeastOnce',
  parameters: {},
});
const STEPS = stepOffers({ steps: {}, skills: Object.keys(SKILL_CATEGORIES).map(skill) });

/** The core nodes of n8n that are no triggers, with some that people search by a former name. */
const FOUND: readonly [search: string, key: string][] = [
  ['Aggregate', 'set'],
  ['AI Agent', 'agent'],
  ['AI Transform', 'agent'],
  ['Basic LLM Chain', 'agent'],
  ['Code', 'code'],
  ['Compare Datasets', 'set'],
  ['Convert to File', 'upload_file'],
  ['Date & Time', 'set'],
  ['Edit Fields (Set)', 'set'],
  ['Edit Fields', 'set'],
  ['Execute Workflow', 'workflow'],
  ['Execute Sub-workflow', 'workflow'],
  ['Extract from File', 'download_file'],
  ['Filter', 'set'],
  ['Function', 'code'],
  ['Function Item', 'code'],
  ['GraphQL', 'http_request'],
  ['HTML', 'code'],
  ['HTTP Request', 'http_request'],
  ['If', 'switch'],
  ['Information Extractor', 'agent'],
  ['Item Lists', 'set'],
  ['Limit', 'set'],
  ['Loop Over Items (Split in Batches)', 'forEach'],
  ['Loop Over Items', 'forEach'],
  ['Markdown', 'code'],
  ['Merge', 'set'],
  ['Move Binary Data', 'code'],
  ['OpenAI', 'agent'],
  ['Read/Write Files from Disk', 'download_file'],
  ['Read Binary File', 'download_file'],
  ['read file', 'download_file'],
  ['write file', 'upload_file'],
  ['Remove Duplicates', 'remove_duplicates'],
  ['Rename Keys', 'set'],
  ['Respond to Chat', 'response'],
  ['Respond to Webhook', 'response'],
  ['RSS Read', 'http_request'],
  ['Send Email', 'send_email'],
  ['Simple Memory', 'agent'],
  ['Sort', 'set'],
  ['Split Out', 'forEach'],
  ['Split in Batches', 'forEach'],
  ['Stop and Error', 'fail'],
  ['Structured Output Parser', 'agent'],
  ['Summarize', 'set'],
  ['Summarization Chain', 'agent'],
  ['Switch', 'switch'],
  ['Text Classifier', 'agent'],
  ['Wait', 'wait'],
  ['XML', 'code'],
  ['Gmail', 'send_email'],
  ['Google Drive', 'upload_file'],
  ['Google Sheets', 'read_rows'],
  ['Microsoft Outlook', 'send_email'],
  ['Slack', 'send_message'],
  ['Telegram', 'send_message'],
];

test.each(FOUND)('the step %s of n8n is %s', (search, key) => {
  expect(matchingOffers(STEPS, search)[0]?.key).toBe(key);
});

test.each([
  ['Chat Trigger', 'chat'],
  ['Email Trigger (IMAP)', 'mail'],
  ['Error Trigger', 'manual'],
  ['Execute Sub-workflow Trigger', 'manual'],
  ['Execute Workflow Trigger', 'manual'],
  ['Gmail Trigger', 'mail'],
  ['Google Drive Trigger', 'fileStorage'],
  ['Google Sheets Trigger', 'spreadsheet'],
  ['Manual Trigger', 'manual'],
  ['On a schedule', 'schedule'],
  ['Schedule Trigger', 'schedule'],
  ['Slack Trigger', 'bot'],
  ['Telegram Trigger', 'bot'],
  ['Webhook', 'webhook'],
])('the trigger %s of n8n is %s', (search, key) => {
  expect(matchingOffers(TRIGGER_OFFERS, search)[0]?.key).toBe(key);
});

test.each([
  ['Compression', /no node for this/],
  ['Crypto', /no node for this/],
  ['Debug Helper', /Pin output/],
  ['Error Trigger', /"Error workflow" in the workflow settings/],
  ['Evaluation', /objects of their own/],
  ['Execute Command', /no node for this/],
  ['Execution Data', /keeps the data/],
  ['FTP', /no node for this/],
  ['If', /^Conditions are on connections/],
  ['Merge', /several incoming connections/],
  ['n8n Form', /no form/],
  ['No Operation, do nothing', /need no node/],
  ['noop', /need no node/],
  ['Postgres', /no node for this/],
  ['Schedule Trigger', /exactly one trigger/],
  ['Split Out', /A list is one value/],
  ['SSH', /no node for this/],
  ['Sticky Note', /Shift\+N/],
  ['stick', /Shift\+N/],
])('among steps, a search for %s gets advice', (search, advice) => {
  expect(searchHint(search)).toMatch(advice);
});

test.each([
  ['Error Trigger', /"Error workflow" in the workflow settings/],
  ['Local File Trigger', /no such trigger/],
  ['n8n Form Trigger', /no form/],
  ['RSS Feed Trigger', /no such trigger/],
])('among triggers, a search for %s gets advice', (search, advice) => {
  expect(searchHint(search, 'triggers')).toMatch(advice);
});

test('the advice is not given where it does not belong', () => {
  expect(searchHint('Schedule Trigger', 'triggers')).toBeUndefined();
  expect(searchHint('email')).toBeUndefined();
  expect(searchHint('execute')).toBeUndefined();
});
