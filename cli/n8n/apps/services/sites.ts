/** WordPress, NocoDB, n8n itself, weather, news and music. */
import { get, post, patch, type Service } from './operation.ts';

const WORDPRESS = '{@url}/wp-json/wp/v2';
const SPOTIFY = 'https://api.spotify.com/v1';
const NOCODB = '{@url}/api/v2/tables/{table}/records';

const OF_NOCODB = {
  note: 'it uses version 2 of the API, whatever version the node of n8n has',
  ignored: ['projectId', 'workspaceId'],
};

export const SITES: Record<string, Service> = {
  wordpress: {
    credentials: ['wordpressApi'],
    usual: ['post create', 'page create', 'user create'],
    operations: {
      'post create': post(`${WORDPRESS}/posts`, {
        title: 'title',
        content: 'additionalFields.content',
        status: 'additionalFields.status',
        slug: 'additionalFields.slug',
        author: 'additionalFields.authorId',
        categories: 'additionalFields.categories',
        tags: 'additionalFields.tags',
      }),
      'post update': post(`${WORDPRESS}/posts/{postId}`, { '*': 'updateFields' }),
      'post get': get(`${WORDPRESS}/posts/{postId}`),
      'post getAll': get(`${WORDPRESS}/posts`, {
        query: {
          per_page: 'limit|50',
          status: 'options.status',
          search: 'options.search',
          context: 'options.context',
          categories: 'options.categories',
        },
      }),
    },
  },
  nocoDb: {
    credentials: ['nocoDbApiToken'],
    usual: ['row get'],
    operations: {
      'row getAll': get(NOCODB, {
        query: { limit: 'limit|50', where: 'options.where', fields: 'options.fields' },
        items: 'list',
        ...OF_NOCODB,
      }),
      'row get': get(`${NOCODB}/{id}`, OF_NOCODB),
      'row create': post(NOCODB, { '*': 'fields' }, OF_NOCODB),
      'row update': patch(NOCODB, { '*': 'fields' }, OF_NOCODB),
    },
  },
  openWeatherMap: {
    credentials: ['openWeatherMapApi'],
    usual: [' currentWeather'],
    operations: {
      ' currentWeather': get('https://api.openweathermap.org/data/2.5/weather', {
        query: {
          q: 'cityName',
          units: 'format|metric',
          id: 'cityId',
          zip: 'zipCode',
          lat: 'latitude',
          lon: 'longitude',
          lang: 'language',
        },
        ignored: ['locationSelection'],
      }),
      ' 5DayForecast': get('https://api.openweathermap.org/data/2.5/forecast', {
        query: {
          q: 'cityName',
          units: 'format|metric',
          id: 'cityId',
          zip: 'zipCode',
          lat: 'latitude',
          lon: 'longitude',
          lang: 'language',
        },
        ignored: ['locationSelection'],
      }),
    },
  },
  hackerNews: {
    credentials: [],
    usual: ['article get', 'all getAll', 'user get'],
    operations: {
      'all getAll': get('https://hn.algolia.com/api/v1/search', {
        query: {
          query: 'additionalFields.keyword',
          tags: 'additionalFields.tags.0',
          hitsPerPage: 'limit|100',
        },
        items: 'hits',
      }),
      'article get': get('https://hn.algolia.com/api/v1/items/{articleId}'),
      'user get': get('https://hn.algolia.com/api/v1/users/{username}'),
    },
  },
  spotify: {
    credentials: ['spotifyOAuth2Api'],
    usual: ['player addSongToQueue', 'playlist add', 'library getLikedTracks'],
    operations: {
      'player addSongToQueue': post(
        `${SPOTIFY}/me/player/queue?uri={id}`,
        {},
        { output: '[{ success: true }]' },
      ),
      'player nextSong': post(`${SPOTIFY}/me/player/next`, {}, { output: '[{ success: true }]' }),
      'player previousSong': post(`${SPOTIFY}/me/player/previous`, {}, { output: '[{ success: true }]' }),
      'player currentlyPlaying': get(`${SPOTIFY}/me/player/currently-playing`),
      'playlist get': get(`${SPOTIFY}/playlists/{id}`),
      'track search': get(`${SPOTIFY}/search`, {
        query: { q: 'query', type: '=track', limit: 'limit|50' },
        items: 'tracks.items',
      }),
      'artist search': get(`${SPOTIFY}/search`, {
        query: { q: 'query', type: '=artist', limit: 'limit|50' },
        items: 'artists.items',
      }),
      'playlist getUserPlaylists': get(`${SPOTIFY}/me/playlists`, {
        query: { limit: 'limit|50' },
        items: 'items',
      }),
      'playlist getTracks': get(`${SPOTIFY}/playlists/{id}/tracks`, {
        query: { limit: 'limit|50' },
        items: 'items',
      }),
      'playlist create': post(`${SPOTIFY}/me/playlists`, { name: 'name' }),
      'playlist add': post(`${SPOTIFY}/playlists/{id}/tracks`, { uris: 'list(trackID)' }),
      'library getLikedTracks': get(`${SPOTIFY}/me/tracks`, { query: { limit: 'limit|50' }, items: 'items' }),
    },
  },
  n8n: {
    credentials: ['n8nApi'],
    usual: ['workflow getAll', 'execution getAll', 'credential create', 'audit generate'],
    operations: {
      'workflow getAll': get('{@url}/api/v1/workflows', {
        query: { limit: '=250', active: 'filters.activeWorkflows', tags: 'filters.tags' },
        items: 'data',
        note: 'at most 250 workflows are listed',
      }),
      'workflow get': get('{@url}/api/v1/workflows/{workflowId}'),
      'workflow activate': post('{@url}/api/v1/workflows/{workflowId}/activate', {}),
      'workflow deactivate': post('{@url}/api/v1/workflows/{workflowId}/deactivate', {}),
      'execution get': get('{@url}/api/v1/executions/{executionId}', {
        query: { includeData: 'options.activeWorkflows' },
      }),
      'execution getAll': get('{@url}/api/v1/executions', {
        query: { limit: 'limit|100', status: 'filters.status', workflowId: 'filters.workflowId' },
        items: 'data',
      }),
    },
  },
};
