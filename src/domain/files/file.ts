import type * as t from 'io-ts'
import { nullableText } from '../../kernel/codec/containers.js'
import { int64, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { nothing, type Decider } from '../../kernel/decider.js'

export const fileStored = open('FileStored', {
  says: "A file's content was stored in a project.",
  required: {
    project_id: projectId,
    /** The digest that clients use for the file. */
    digest: string,
    /** The blob's name: SHA-256 of the content, unless a client sent it to the bucket itself. */
    blob: string,
    size: int64,
  },
  optional: { wb_user_id: nullableText(string) },
})

export const fileEvents = { FileStored: fileStored }

export interface FileEvent {
  readonly type: 'FileStored'
  readonly data: t.TypeOf<typeof fileStored>
}

/** The digest of content that clients know by its MD5, in hexadecimal. */
export const md5Digest = (md5: string): string => `md5-${md5}`

export const fileStream = (projectId: string, digest: string): string => `file-${projectId}/${digest}`

export interface StoreFile {
  readonly type: 'StoreFile'
  readonly file: FileEvent['data']
}

interface FileState {
  readonly stored: boolean
}

export const fileDecider: Decider<FileState, StoreFile, FileEvent> = {
  initialState: () => ({ stored: false }),
  evolve: (state, { type }) => ((type as string) === 'FileStored' ? { stored: true } : state),
  decide: ({ stored }, { file }) => (stored ? nothing : { events: [{ type: 'FileStored', data: file }] }),
}
