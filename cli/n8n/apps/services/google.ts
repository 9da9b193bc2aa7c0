/** Google Calendar, Docs, Tasks and YouTube. */
import { get, post, patch, remove, type Service } from './operation.ts';

const CALENDAR = 'https://www.googleapis.com/calendar/v3/calendars/{calendar}/events';
const EVENT = {
  summary: 'additionalFields.summary',
  description: 'additionalFields.description',
  location: 'additionalFields.location',
  'start.dateTime': 'start',
  'end.dateTime': 'end',
};
const YOUTUBE = 'https://www.googleapis.com/youtube/v3';

export const GOOGLE: Record<string, Service> = {
  googleCalendar: {
    credentials: ['googleCalendarOAuth2Api'],
    usual: ['event create', 'calendar availability'],
    operations: {
      'event create': post(CALENDAR, EVENT, { ignored: ['useDefaultReminders', 'remindersUi'] }),
      'event getAll': get(CALENDAR, {
        query: {
          timeMin: 'timeMin,options.timeMin',
          timeMax: 'timeMax,options.timeMax',
          maxResults: 'limit|50',
          q: 'options.query',
          singleEvents: 'options.singleEvents',
          orderBy: 'options.orderBy',
          timeZone: 'options.timeZone',
          updatedMin: 'options.updatedMin',
          showDeleted: 'options.showDeleted',
        },
        items: 'items',
      }),
      'event get': get(`${CALENDAR}/{eventId}`),
      'event update': patch(`${CALENDAR}/{eventId}`, {
        summary: 'updateFields.summary',
        description: 'updateFields.description',
        location: 'updateFields.location',
        'start.dateTime': 'updateFields.start',
        'end.dateTime': 'updateFields.end',
      }),
      'event delete': remove(`${CALENDAR}/{eventId}`),
    },
  },
  googleDocs: {
    credentials: ['googleDocsOAuth2Api'],
    usual: ['document create'],
    operations: {
      'document create': post(
        'https://docs.googleapis.com/v1/documents',
        { title: 'title' },
        { note: 'the document is created in My Drive, not in the folder' },
      ),
      'document get': get('https://docs.googleapis.com/v1/documents/{documentURL}', {
        output:
          "[{ documentId: R.body.documentId, content: (R.body.body?.content ?? []).flatMap(({ paragraph }) => paragraph?.elements ?? []).map(({ textRun }) => textRun?.content ?? '').join('') }]",
      }),
    },
  },
  googleTasks: {
    credentials: ['googleTasksOAuth2Api'],
    usual: ['task create'],
    operations: {
      'task create': post('https://tasks.googleapis.com/tasks/v1/lists/{task}/tasks', {
        title: 'title',
        notes: 'additionalFields.notes',
        due: 'additionalFields.dueDate',
      }),
      'task getAll': get('https://tasks.googleapis.com/tasks/v1/lists/{task}/tasks', { items: 'items' }),
    },
  },
  youTube: {
    credentials: ['youTubeOAuth2Api'],
    usual: ['channel getAll', 'video getAll', 'playlist getAll', 'playlistItem add'],
    operations: {
      'video getAll': get(`${YOUTUBE}/search`, {
        query: {
          part: '=snippet',
          type: '=video',
          maxResults: 'limit|25',
          q: 'filters.q',
          channelId: 'filters.channelId',
          publishedAfter: 'filters.publishedAfter',
          publishedBefore: 'filters.publishedBefore',
          regionCode: 'filters.regionCode',
          relatedToVideoId: 'filters.relatedToVideoId',
          videoDuration: 'filters.videoDuration',
          order: 'options.order',
          safeSearch: 'options.safeSearch',
        },
        items: 'items',
      }),
      'video get': get(`${YOUTUBE}/videos`, {
        query: { part: '=snippet,statistics,contentDetails,status', id: 'videoId' },
        items: 'items',
      }),
      'channel get': get(`${YOUTUBE}/channels`, {
        query: { part: '=snippet,statistics,contentDetails', id: 'channelId' },
        items: 'items',
      }),
      'playlistItem getAll': get(`${YOUTUBE}/playlistItems`, {
        query: { part: '=snippet,contentDetails', maxResults: 'limit|25', playlistId: 'playlistId' },
        items: 'items',
      }),
      'playlistItem add': post(
        `${YOUTUBE}/playlistItems?part=snippet`,
        {
          'snippet.playlistId': 'playlistId',
          'snippet.resourceId.kind': '=youtube#video',
          'snippet.resourceId.videoId': 'videoId',
          'snippet.position': 'options.position',
        },
        {},
      ),
      'playlistItem delete': remove(`${YOUTUBE}/playlistItems?id={playlistItemId}`),
      'playlist delete': remove(`${YOUTUBE}/playlists?id={playlistId}`),
      'playlist create': post(`${YOUTUBE}/playlists?part=snippet,status`, {
        'snippet.title': 'title',
        'snippet.description': 'options.description',
        'status.privacyStatus': 'options.privacyStatus',
      }),
    },
  },
};
