import type { JsonObject } from '../../domain/json/json.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { SpilledFields } from '../../domain/spill/fields.js'
import { tableDigest } from '../../domain/table/digests.js'
import type { TableRow } from '../../domain/table/events.js'
import { placed } from './placed.js'

/** A row with its texts, made once. */
export interface DigestedRow {
  readonly digest: string
  readonly val: JsonObject
  readonly text: string
  readonly canonical: string
}

/** Contents of rows that one event stores. */
interface Pack {
  readonly pack: string
  readonly rows: readonly TableRow[] | null
  readonly spilled: SpilledFields
}

type PackPorts = Pick<Ports, 'blobs' | 'sha256'>

/** Characters of JSON in one pack, unless a single row has more. */
const MAX_PACK = 1024 * 1024

/** Puts rows together into packs, in the order in which they come; a very large row is a pack of its own. */
export const packing = (ports: PackPorts) => {
  const packs: Promise<Pack>[] = []
  let rows: DigestedRow[] = []
  let size = 0

  const close = (closing: readonly DigestedRow[]) => {
    const pack = packOf(ports, closing)
    // Told when all are awaited.
    pack.catch(() => undefined)
    packs.push(pack)
  }

  return {
    add(row: DigestedRow): void {
      if (row.text.length >= MAX_PACK) {
        close([row])
        return
      }
      if (size + row.text.length > MAX_PACK) {
        close(rows)
        rows = []
        size = 0
      }
      rows.push(row)
      size += row.text.length
    },
    /** All packs; what is in the blob store is there durably. */
    async finish(): Promise<readonly Pack[]> {
      if (rows.length > 0) close(rows)
      return Promise.all(packs)
    },
  }
}

const packOf = async (ports: PackPorts, rows: readonly DigestedRow[]): Promise<Pack> => {
  const digests = rows.map(({ digest }) => digest)
  const isCanonical = rows.every(({ text, canonical }) => text === canonical)
  const text = listOf(rows, (row) => row.text)
  const canonical = isCanonical ? text : listOf(rows, (row) => row.canonical)
  const values = rows.map(({ digest, val }) => ({ digest, val }))
  return {
    pack: tableDigest(ports.sha256, digests),
    ...(await placed(ports, 'rows', values, text, canonical)),
  }
}

const listOf = (rows: readonly DigestedRow[], textOf: (row: DigestedRow) => string): string =>
  `[${rows.map((row) => `{"digest":"${row.digest}","val":${textOf(row)}}`).join(',')}]`
