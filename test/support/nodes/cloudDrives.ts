/** The fakes of Google Drive and OneDrive behind one interface, for what the pollers of both guarantee. */
import type { FileStorageTrigger } from '../../../api/trigger.ts';
import { startDriveServer, type DriveFault } from '../providers/google/driveServer.ts';
import { startGraphServer, type GraphFault } from '../providers/microsoft/oneDriveServer.ts';
import { filePolls, type Polls } from './polls.ts';

const GOOGLE_FOLDER = 'application/vnd.google-apps.folder';

export type CloudDrive = {
  url: string;
  /** The ID of the topmost folder. */
  top: string;
  /** Adds a file of that content type and size. */
  putDocument(id: string, document: CloudDocument): void;
  /** Adds a file or a folder. A known ID with another parent moves it. */
  put(id: string, parent: string, isFolder?: boolean): void;
  move(id: string, parent: string): void;
  rename(id: string, name: string): void;
  /** Changes the content of a file. */
  write(id: string): void;
  remove(id: string): void;
  /** Page tokens and cursors become invalid. */
  expireTokens(): void;
  setFault(fault: (DriveFault & GraphFault) | undefined): void;
  polls(fields?: Partial<FileStorageTrigger>): Polls;
  close(): Promise<void>;
};

type CloudDocument = { name: string; mimeType: string; size: number; modifiedTime: string; url: string };

/** `account`: the drive of another account has another one. */
export type CloudDriveOptions = { pageSize?: number; account?: string };

export async function startDrive({ pageSize, account }: CloudDriveOptions = {}): Promise<CloudDrive> {
  const server = await startDriveServer({
    ...(pageSize !== undefined && { pageSize }),
    ...(account !== undefined && { owner: account }),
  });
  return {
    ...server,
    top: 'root-folder',
    putDocument: (id, { size, url: webViewLink, ...rest }) =>
      void server.put({ id, ...rest, size: String(size), webViewLink }),
    put: (id, parent, isFolder = false) =>
      void server.put({ id, parents: [parent], ...(isFolder && { mimeType: GOOGLE_FOLDER }) }),
    move: (id, parent) => void server.put({ id, parents: [parent] }),
    rename: (id, name) => void server.put({ id, name }),
    polls: pollsOf('google', server.url),
  };
}

export async function startOneDrive({ pageSize, account }: CloudDriveOptions = {}): Promise<CloudDrive> {
  const server = await startGraphServer({
    ...(pageSize !== undefined && { pageSize }),
    ...(account !== undefined && { driveId: account }),
  });
  return {
    ...server,
    top: 'root-id',
    putDocument: (id, { mimeType, modifiedTime: lastModifiedDateTime, url: webUrl, ...rest }) =>
      server.put({ id, ...rest, file: { mimeType }, lastModifiedDateTime, webUrl }),
    put: (id, parent, isFolder = false) => server.put({ id, parent, ...(isFolder && { folder: {} }) }),
    move: (id, parent) => server.put({ id, parentReference: { id: parent } }),
    rename: (id, name) => server.put({ id, name }),
    polls: pollsOf('microsoft', server.url),
  };
}

const pollsOf =
  (preset: 'google' | 'microsoft', apiURL: string): CloudDrive['polls'] =>
  (fields = {}) =>
    filePolls({ oauth2: { preset, clientID: 'client', apiURL } }, { access_token: 'good-token' }, fields);
