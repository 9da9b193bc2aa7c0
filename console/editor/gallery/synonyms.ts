/**
 * Words that people search for, by the key of the offer: tasks, and the names of nodes in n8n. Commas
 * separate phrases: a search for a whole phrase finds its node first.
 */
export const SYNONYMS: Record<string, string> = {
  agent:
    'ai, ai agent, llm, llm chain, basic llm chain, language model, chat model, gpt, chatgpt, openai, message a model, claude, anthropic, gemini, ollama, mistral, prompt, tools, mcp client, memory, simple memory, chatbot, classify, text classifier, extract, information extractor, sentiment analysis, summarize text, summarization chain, question and answer chain, structured output parser, ai transform, translate',
  chat: 'chat trigger, when chat message received, chatbot, conversation, assistant, page',
  webhook: 'webhook trigger, on webhook call, http, api call, endpoint, form, form trigger, post',
  schedule: 'schedule trigger, on a schedule, cron, timer, interval, every day, hour',
  mail: 'email trigger, imap, imap email, inbox, gmail, gmail trigger, outlook, microsoft outlook trigger, email received',
  bot: 'telegram, telegram trigger, slack, slack trigger, message',
  spreadsheet: 'google sheets, google sheets trigger, excel, microsoft excel, table',
  fileStorage: 's3, google drive, google drive trigger, bucket, onedrive, upload, file trigger',
  manual:
    'manual trigger, when clicking execute workflow, button, start, execute, click, execute workflow trigger, execute sub workflow trigger, when executed by another workflow, evaluation trigger, error trigger',
  send_email: 'mail, smtp, gmail, outlook, microsoft outlook, notify',
  reply_email: 'mail, answer, smtp, gmail, outlook',
  send_message: 'telegram, slack, chat, bot, notify, post',
  http_request:
    'http, api, rest, call, fetch, curl, get, post, webhook, graphql, rss, rss read, notion, airtable',
  set: 'edit fields, edit fields set, expression, cel, sum, count, filter, sort, limit, aggregate, summarize, item lists, split, group by, rename, rename keys, date and time, date time, datetime, merge, map, compare datasets',
  code: 'javascript, js, python, function, function item, compute, script, markdown, html, html extract, xml, move binary data',
  read_rows: 'google sheets, excel, table, spreadsheet, get rows, lookup, data table',
  append_row: 'google sheets, excel, table, spreadsheet, add row, insert row',
  update_row: 'google sheets, excel, table, spreadsheet, edit row',
  upload_file:
    's3, google drive, bucket, save, store, write, write file, write binary file, convert to file, spreadsheet file',
  download_file:
    's3, google drive, bucket, get, read, read file, read files, read write files, read write files from disk, read binary file, read binary files, extract from file, read pdf',
  fail: 'stop and error, throw, throw error, end, abort',
  switch: 'if, else, branch, condition, case, router, route, filter, split, otherwise, decide',
  forEach: 'loop, loop over items, split in batches, split out, each, iterate, foreach, map, batch',
  repeat: 'loop, while, poll, again, retry, until',
  group: 'scope, try catch, block, error, loop',
  wait: 'sleep, pause, delay, timer, callback, webhook, resume, approval, human in the loop, send and wait',
  workflow:
    'execute workflow, execute sub workflow, sub workflow, subworkflow, child workflow, call workflow',
  remove_duplicates: 'deduplicate, dedupe, unique',
  response: 'respond to webhook, respond to chat, reply, answer, return',
};
