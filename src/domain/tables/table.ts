import type * as t from 'io-ts'
import { arrayOf, nullable, nullableText } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { jsonObject, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { type EventOf, nothing, type Decider } from '../../kernel/decider.js'
import { textLike } from '../../kernel/codec/text.js'
import { projectId } from '../../kernel/ids.js'
import { spilledFields } from '../../kernel/spill/fields.js'

/** Tables had digests of 43 letters before. */
const digest = textLike(
  'digest',
  /^([A-Za-z0-9]{43}|[0-9a-f]{64})$/,
  'String should have 43 letters or digits, or 64 hexadecimal digits',
)

/** A digest of a table or row. */
export const isDigest = (text: string): boolean => digest.is(text)

const tableRow = open('TableRow', { required: { digest, val: jsonObject } })

export const tableRowsStored = open('TableRowsStored', {
  says: 'A batch of row contents was stored, possibly before the table that contains them.',
  required: {
    project_id: projectId,
    /** The table's digest. */
    digest,
    /** Digest of the concatenated row digests of this pack. */
    pack: digest,
  },
  optional: {
    /** Null if too large for an event. */
    rows: nullable(arrayOf(tableRow)),
    spilled: spilledFields,
  },
})

export const tablePublished = open('TablePublished', {
  says: 'A table was created from row digests in order. The contents of its rows were stored before.',
  required: {
    project_id: projectId,
    /** Digest of the concatenated row digests. */
    digest,
    row_count: wholeNumber,
    created_at: instant,
  },
  optional: {
    /** One per row, with repeats; null if too large for an event. */
    row_digests: nullable(arrayOf(digest)),
    wb_user_id: nullableText(string),
    spilled: spilledFields,
  },
})

export const tableEvents = { TableRowsStored: tableRowsStored, TablePublished: tablePublished }

export type TableEvent = EventOf<typeof tableEvents>

export type TableRowsStored = t.TypeOf<typeof tableRowsStored>
export type TablePublished = t.TypeOf<typeof tablePublished>

export const tableStream = (projectId: string, digest: string): string => `table-${projectId}/${digest}`

export type TableCommand =
  | { readonly type: 'StoreTableRows'; readonly rows: TableRowsStored }
  | { readonly type: 'PublishTable'; readonly table: TablePublished }

interface TableState {
  /** Digests of the stored packs. */
  readonly packs: Set<string>
  readonly published: boolean
}

/** Repeating the commands completes a table whose upload was interrupted. */
export const tableDecider: Decider<TableState, TableCommand, TableEvent> = {
  initialState: () => ({ packs: new Set(), published: false }),

  evolve: (state, { type, data }) => {
    switch (type) {
      case 'TableRowsStored':
        state.packs.add(data.pack)
        return state
      case 'TablePublished':
        return { ...state, published: true }
      default:
        return state
    }
  },

  decide: ({ packs, published }, command) => {
    if (published) return nothing
    switch (command.type) {
      case 'StoreTableRows':
        if (packs.has(command.rows.pack)) return nothing
        return { events: [{ type: 'TableRowsStored', data: command.rows }] }
      case 'PublishTable':
        return { events: [{ type: 'TablePublished', data: command.table }] }
    }
  },
}
