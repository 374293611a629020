import { readFile } from 'node:fs/promises'
import * as E from 'fp-ts/lib/Either.js'
import { decode } from '../../kernel/codec/codec.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { execute } from '../../kernel/execute.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { priceDecider } from '../../domain/prices/decider.js'
import { DEFAULT_LIST, priceStream } from '../../domain/prices/events.js'
import { contentsOf, priceListFile, type PriceListFile } from '../../domain/prices/list-file.js'
import { DEFAULT_PRICES } from '../../files.js'

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
  const command = {
    type: 'ImportPrices',
    list: DEFAULT_LIST,
    version: file.version,
    source: file.source,
    prices: contentsOf(file).map((price) => ({ id: ports.ids.next(), price })),
    once: true,
    userId: cause.actor,
    now: instantOf(ports.clock.now()),
  } as const
  const stream = priceStream({ project_id: null, list: DEFAULT_LIST })
  await execute(ports)(priceDecider, stream, [command], cause, { splitAppends: true })
}

const defaultPrices = async (): Promise<PriceListFile> => {
  const file = decode(priceListFile)(JSON.parse(await readFile(DEFAULT_PRICES, 'utf8')))
  if (E.isLeft(file)) throw new Error(`the default price list is not valid: ${JSON.stringify(file.left)}`)
  return file.right
}
