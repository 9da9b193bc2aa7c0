/** Discord, WhatsApp, LinkedIn, X, Outlook, Mattermost and Twilio. */
import { get, post, patch, remove, type Service } from './operation.ts';

const DISCORD = 'https://discord.com/api/v10';
const GRAPH = 'https://graph.microsoft.com/v1.0/me';

export const MESSAGES: Record<string, Service> = {
  discord: {
    credentials: ['discordBotApi'],
    usual: ['message send', 'channel create', 'member getAll'],
    operations: {
      'message send': post(
        `${DISCORD}/channels/{channelId}/messages`,
        { content: 'content' },
        { ignored: ['guildId', 'sendTo'] },
      ),
      'message getAll': get(`${DISCORD}/channels/{channelId}/messages`, {
        query: { limit: 'limit|100' },
        ignored: ['guildId'],
      }),
      'message deleteMessage': remove(`${DISCORD}/channels/{channelId}/messages/{messageId}`, {
        output: '[{ success: true }]',
        ignored: ['guildId'],
      }),
      'channel getAll': get(`${DISCORD}/guilds/{guildId}/channels`),
      'member getAll': get(`${DISCORD}/guilds/{guildId}/members`, { query: { limit: 'limit|100' } }),
    },
  },
  whatsApp: {
    credentials: ['whatsAppApi'],
    usual: ['message send', 'media mediaUpload'],
    operations: {
      'message send': post(
        'https://graph.facebook.com/v21.0/{phoneNumberId}/messages',
        {
          messaging_product: '=whatsapp',
          to: 'recipientPhoneNumber',
          type: '=text',
          'text.body': 'textBody',
          'text.preview_url': 'additionalFields.previewUrl',
        },
        { ignored: ['messageType'] },
      ),
      'media mediaUrlGet': get('https://graph.facebook.com/v21.0/{mediaGetId}'),
    },
  },
  linkedIn: {
    credentials: ['linkedInOAuth2Api'],
    usual: ['post create'],
    operations: {
      'post create': post(
        'https://api.linkedin.com/rest/posts',
        {
          author: '=urn:li:person:{person}',
          commentary: 'linkedInText(text)',
          visibility: 'additionalFields.visibility|PUBLIC',
          lifecycleState: '=PUBLISHED',
          'distribution.feedDistribution': '=MAIN_FEED',
        },
        {
          headers: { 'X-Restli-Protocol-Version': '2.0.0', 'LinkedIn-Version': '202504' },
          output: "[{ urn: R.headers['x-restli-id'] }]",
        },
      ),
    },
  },
  twitter: {
    credentials: ['twitterOAuth2Api'],
    usual: ['tweet create', 'user searchUser'],
    operations: {
      'tweet create': post('https://api.x.com/2/tweets', { text: 'text' }, { items: 'data' }),
      'tweet search': get('https://api.x.com/2/tweets/search/recent', {
        query: {
          query: 'searchText',
          max_results: 'limit|50',
          sort_order: 'additionalFields.sortOrder',
          start_time: 'additionalFields.startTime',
          end_time: 'additionalFields.endTime',
        },
        items: 'data',
      }),
      'user searchUser': get('https://api.x.com/2/users/by/username/{user}', { items: 'data' }),
    },
  },
  microsoftOutlook: {
    credentials: ['microsoftOutlookOAuth2Api'],
    usual: ['message send', 'event getAll', 'draft create', 'folder getAll'],
    operations: {
      'message send': post(
        `${GRAPH}/sendMail`,
        {
          'message.toRecipients': 'recipients(toRecipients)',
          'message.subject': 'subject',
          'message.body.content': 'bodyContent',
          'message.body.contentType': 'additionalFields.bodyContentType|html',
          'message.ccRecipients': 'recipients(additionalFields.ccRecipients)',
          'message.bccRecipients': 'recipients(additionalFields.bccRecipients)',
          'message.replyTo': 'recipients(additionalFields.replyTo)',
          'message.importance': 'additionalFields.importance',
          'message.categories': 'additionalFields.categories',
          saveToSentItems: 'additionalFields.saveToSentItems',
        },
        { output: '[{ success: true }]' },
      ),
      'draft create': post(`${GRAPH}/messages`, {
        toRecipients: 'recipients(additionalFields.toRecipients)',
        subject: 'subject',
        'body.content': 'bodyContent',
        'body.contentType': 'additionalFields.bodyContentType|html',
      }),
      'draft send': post(`${GRAPH}/messages/{draftId}/send`, {}, { output: '[{ success: true }]' }),
      'message getAll': get(`${GRAPH}/messages`, {
        query: { $top: 'limit', $filter: 'filtersUI.values.filters.custom' },
        items: 'value',
      }),
      'message get': get(`${GRAPH}/messages/{messageId}`),
      'message move': post(`${GRAPH}/messages/{messageId}/move`, { destinationId: 'folderId' }),
      'message update': patch(`${GRAPH}/messages/{messageId}`, { '*': 'updateFields' }),
      'message delete': remove(`${GRAPH}/messages/{messageId}`),
      'folder getAll': get(`${GRAPH}/mailFolders`, { items: 'value' }),
      'event getAll': get(`${GRAPH}/events`, { query: { $top: 'limit' }, items: 'value' }),
    },
  },
  mattermost: {
    credentials: ['mattermostApi'],
    usual: ['message post', 'channel create', 'user create'],
    operations: {
      'message post': post('{@url}/api/v4/posts', { channel_id: 'channelId', message: 'message' }),
      'message delete': remove('{@url}/api/v4/posts/{postId}'),
      'channel addUser': post('{@url}/api/v4/channels/{channelId}/members', { user_id: 'userId' }),
    },
  },
  twilio: {
    credentials: ['twilioApi'],
    usual: ['sms send', 'call make'],
    operations: {
      'sms send': post(
        'https://api.twilio.com/2010-04-01/Accounts/{@account_sid}/Messages.json',
        { From: 'from', To: 'to', Body: 'message', StatusCallback: 'options.statusCallback' },
        { contentType: 'application/x-www-form-urlencoded' },
      ),
    },
  },
};
