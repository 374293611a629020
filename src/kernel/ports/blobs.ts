import type { Sha256 } from './sha256.js'

/**
 * Content-addressed bytes. A digest is the SHA-256 of the content in lower-case hexadecimal, or a {@link directBlob}. Throws
 * {@link BlobsUnavailable} when the store fails, and {@link BlobDamaged} for content that differs from its digest.
 */
export interface BlobStore {
  /** Durable (fsynced) when it resolves. Equal content is stored once. A bucket's requests are shared among teams. */
  put(content: Uint8Array, team?: string): Promise<string>
  /**
   * As `put`, for a stream. Rejects with {@link BlobTooLarge} as soon as the source exceeds `limitBytes`, or with the
   * source's own error; in both cases nothing is stored. A copy of a {@link directBlob} keeps its name.
   */
  putStream(
    source: AsyncIterable<Uint8Array>,
    limitBytes: number,
    team?: string,
    copyOf?: string,
  ): Promise<StoredBlob>
  /** Undefined if there is no such blob. */
  get(digest: string): Promise<Uint8Array | undefined>
  /**
   * As `get`, as a stream: reads lazily, and releases the file when iteration stops early. Undefined if there is no
   * such blob. `range` is within the content. The last chunk is only given once the digest was found to be right, except
   * for a range of a large blob, which is not checked.
   */
  open(digest: string, range?: BlobRange): Promise<OpenedBlob | undefined>
  /** Without effect if there is no such blob. */
  delete(digest: string): Promise<void>
  /** Undefined where all content passes the service. */
  readonly direct?: DirectBlobs | undefined
}

/**
 * The name of content that a client sends to the store itself. Clients only say its MD5, for which other content can be made:
 * so each project has its own.
 */
export const directBlob = (project: string, md5: string, sha256: Sha256): string =>
  `md5-${md5}-${sha256(project).slice(0, 32)}`

/** The MD5 in the name of a {@link directBlob}. */
export const md5In = (digest: string): string | undefined =>
  /^md5-([0-9a-f]{32})-[0-9a-f]{32}$/.exec(digest)?.[1]

/** Addresses at which clients store and read content themselves. They are valid for 15 minutes. */
export interface DirectBlobs {
  /** For one PUT of a {@link directBlob}, with its MD5 in the header Content-MD5. */
  put(digest: string): Promise<string>
  /** For a PUT of each part, with its MD5 in the header Content-MD5. */
  putParts(digest: string, parts: readonly UploadPart[]): Promise<PartsUpload>
  /** Makes a blob of parts that the store took. Without effect if it does not have them all; `size` then finds no blob. */
  complete(digest: string, upload: string, parts: readonly StoredPart[]): Promise<void>
  /** In bytes; undefined if there is no such blob, or if the store does not have it under its MD5. */
  size(digest: string): Promise<number | undefined>
  /** For a GET that is answered as a download under a name. */
  get(digest: string, name: string): Promise<string>
}

export interface UploadPart {
  readonly number: number
  readonly md5: string
}

export interface StoredPart {
  readonly number: number
  readonly etag: string
}

export interface PartsUpload {
  readonly upload: string
  readonly urls: readonly { readonly number: number; readonly url: string }[]
}

/** Bytes from `start` to before `end`. */
export interface BlobRange {
  readonly start: number
  readonly end: number
}

export interface OpenedBlob {
  /** Of the whole content, in bytes. */
  readonly size: number
  readonly chunks: AsyncIterable<Uint8Array>
}

export interface StoredBlob {
  readonly digest: string
  /** In bytes. */
  readonly size: number
}

/** The disk is full or failing. Nothing was stored. */
export class BlobsUnavailable extends Error {
  override readonly name = 'BlobsUnavailable'
}

/** A blob does not have the content of its digest: it was changed or cut after it was stored. */
export class BlobDamaged extends Error {
  override readonly name = 'BlobDamaged'
  constructor(digest: string, others = 0, problem = 'differs from its digest') {
    super(
      `the stored content ${digest} ${others === 0 ? '' : `and ${others} more `}${problem}; ` +
        'restore the file in blobs/ from a backup, or store the same content again',
    )
  }
}

/** The log references a blob that the store does not have. */
export class BlobMissing extends BlobDamaged {
  constructor(digest: string) {
    super(digest, 0, 'is missing')
  }
}

/** The content exceeds the limit given by the writer. */
export class BlobTooLarge extends Error {
  override readonly name = 'BlobTooLarge'
  constructor(readonly limitBytes: number) {
    super(`the content exceeds the limit of ${limitBytes} bytes`)
  }
}
