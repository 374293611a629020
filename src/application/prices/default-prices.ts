import { readFile } from 'node:fs/promises'
import * as E from 'fp-ts/lib/Either.js'
import { decode } from '../../kernel/codec/codec.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { DEFAULT_LIST } from '../../domain/prices/events.js'
import { contentsOf, priceListFile, type PriceListFile } from '../../domain/prices/list-file.js'
import { DEFAULT_PRICES } from '../../files.js'
import { importPrices } from './prices.js'

/**
 * Imports the price list of this release into the log, so that every cost can be computed from the log. Each version is
 * imported once, so that later starts do not undo the operator's changes.
 */
export const publishDefaultPrices = async (
  ports: Pick<Ports, 'eventStore' | 'ids' | 'clock'>,
): Promise<void> => {
  const file = await defaultPrices()
  const correlationId = ports.ids.next()
  const cause = { correlationId, causationId: correlationId, actor: 'system' }
  const { version, source } = file
  await importPrices(
    ports,
    { list: DEFAULT_LIST, version, source, prices: contentsOf(file), once: true },
    cause,
  )
}

const defaultPrices = async (): Promise<PriceListFile> => {
  const file = decode(priceListFile)(JSON.parse(await readFile(DEFAULT_PRICES, 'utf8')))
  if (E.isLeft(file)) throw new Error(`the default price list is not valid: ${JSON.stringify(file.left)}`)
  return file.right
}
