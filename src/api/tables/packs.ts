import type { JsonObject } from '../../domain/json/json.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { SpilledFields } from '../../domain/spill/fields.js'
import { tableDigest } from '../../domain/table/digests.js'
import type { TableRow } from '../../domain/table/events.js'
import { storeField } from './store-field.js'

/** A row with its serialised texts. */
export interface DigestedRow {
  readonly digest: string
  readonly val: JsonObject
  readonly text: string
  readonly canonical: string
}

/** The rows of one event. */
interface Pack {
  readonly pack: string
  readonly rows: readonly TableRow[] | null
  readonly spilled: SpilledFields
}

type PackPorts = Pick<Ports, 'blobs' | 'sha256'>

/** Characters of JSON per pack. A larger row gets a pack of its own. */
const MAX_PACK = 1024 * 1024

/** Groups rows into packs, in order. */
export const packing = (ports: PackPorts) => {
  const packs: Promise<Pack>[] = []
  let rows: DigestedRow[] = []
  let size = 0

  const close = (closing: readonly DigestedRow[]) => {
    const pack = packOf(ports, closing)
    // The rejection is handled when all packs are awaited.
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
    /** All packs, durable if they are in the blob store. */
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
    ...(await storeField(ports, 'rows', values, text, canonical)),
  }
}

const listOf = (rows: readonly DigestedRow[], textOf: (row: DigestedRow) => string): string =>
  `[${rows.map((row) => `{"digest":"${row.digest}","val":${textOf(row)}}`).join(',')}]`
