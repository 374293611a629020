import { instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { inPages } from '../../kernel/pages.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import type { SpilledFields } from '../../kernel/spill/fields.js'
import { type TableCommand, tableDecider, tableStream } from '../../domain/tables/table.js'
import { digestedRow, tableDigest } from '../../domain/tables/digests.js'
import { execute } from '../../kernel/execute.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { Failure } from '../failure.js'

type TablePorts = Pick<Ports, 'eventStore' | 'blobs' | 'ids' | 'sha256' | 'clock'>

/** A row with its digest and JSON text. */
export type DigestedRow = Awaited<ReturnType<typeof digestedRow>> & { readonly val: JsonObject }

export interface DigestedRows {
  /** One per row, in order. */
  readonly digests: readonly string[]
  /** Distinct rows by digest. */
  readonly contents: ReadonlyMap<string, DigestedRow>
}

/** Computes the digests of rows and yields to the event loop while doing so. */
export const digestedRows = async (sha256: Sha256, rows: readonly JsonObject[]): Promise<DigestedRows> => {
  const yieldNow = yielding()
  const digests: string[] = []
  const contents = new Map<string, DigestedRow>()
  for (const val of rows) {
    const digested = await digestedRow(sha256, val)
    digests.push(digested.digest)
    if (!contents.has(digested.digest)) contents.set(digested.digest, { val, ...digested })
    const pause = yieldNow()
    if (pause !== undefined) await pause
  }
  return { digests, contents }
}

export interface TableToPublish {
  readonly projectId: string
  readonly userId: string
  /** All rows, in order. */
  readonly rowDigests: readonly string[]
  /** The distinct rows that the project may not have yet. */
  readonly contents: Iterable<DigestedRow>
  /** The digest computed by the client. */
  readonly expectedDigest?: string | null
}

/** Characters of JSON per event. A larger row gets an event of its own. */
const BATCH = { items: Infinity, weight: 1024 * 1024 }

/** Stores the rows, then publishes the table. Writes nothing if the table exists. */
export const publishTable =
  (ports: TablePorts) =>
  async (
    { projectId, userId, rowDigests, contents, expectedDigest = null }: TableToPublish,
    cause: Cause,
  ): Promise<{ readonly digest: string; readonly position: Position | undefined }> => {
    const digest = tableDigest(ports.sha256, rowDigests)
    if (expectedDigest !== null && expectedDigest !== digest)
      throw new Failure(
        'conflict',
        `The digest of the rows is ${digest}, which differs from the expected digest.`,
      )
    const ofTable = { project_id: projectId, digest }
    const storing: TableCommand[] = []
    for (const batch of inPages(contents, ({ text }) => text.length, BATCH))
      storing.push({ type: 'StoreTableRows', rows: { ...ofTable, ...(await rowBatch(ports, batch)) } })
    const row_digests = await storeField(ports, 'row_digests', rowDigests, JSON.stringify(rowDigests))
    const table = {
      ...ofTable,
      ...row_digests,
      row_count: rowDigests.length,
      created_at: instantOf(ports.clock.now()),
      wb_user_id: userId,
    }
    const { readableAt: position } = await execute(ports)(
      tableDecider,
      tableStream(projectId, digest),
      [...storing, { type: 'PublishTable', table }],
      cause,
      // The table exists only with `TablePublished`, which comes last.
      { assumeNew: true, splitAppends: true },
    )
    return { digest, position }
  }

const rowBatch = async (ports: TablePorts, rows: readonly DigestedRow[]) => {
  const values = rows.map(({ digest, val }) => ({ digest, val }))
  const texts = rows.map(({ digest, text }) => `{"digest":"${digest}","val":${text}}`)
  return {
    pack: tableDigest(
      ports.sha256,
      rows.map(({ digest }) => digest),
    ),
    ...(await storeField(ports, 'rows', values, `[${texts.join(',')}]`)),
  }
}

/** Larger fields go to the blob store, so that rows and the digests of a table fit into one append. */
const MAX_INLINE_BYTES = 256 * 1024

type StoredField<F extends string, A> = { readonly [K in F]: A | null } & { readonly spilled: SpilledFields }

/** Like `spill`, for a field whose JSON text is known. */
const storeField = async <F extends string, A>(
  { blobs, sha256 }: Pick<Ports, 'blobs' | 'sha256'>,
  field: F,
  value: A,
  text: string,
): Promise<StoredField<F, A>> => {
  const bytes = Buffer.from(text)
  if (bytes.length <= MAX_INLINE_BYTES) return { [field]: value, spilled: {} } as StoredField<F, A>
  const place = { digest: await blobs.put(bytes), size: bytes.length, canonical: sha256(text) }
  return { [field]: null, spilled: { [field]: place } } as StoredField<F, A>
}
