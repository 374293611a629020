import { openAccess } from '../application/access/access.js'
import { bootstrapAccess } from '../application/access/bootstrap.js'
import { throttleFor } from '../application/throttle.js'
import { readingFrom } from '../application/reading/reading.js'
import type { AnyRoute } from '../api/server/route.js'
import { allRoutes, type ApiServices } from '../api/routes.js'
import type { Config } from '../config.js'
import { instantOf } from '../kernel/codec/instant.js'
import { NewerEvents, StoreUnavailable } from '../kernel/ports/event-store-errors.js'
import { publishPrices } from '../gateway/upstreams/published-prices.js'
import { publishDefaultPrices } from '../application/prices/default-prices.js'
import type { ReadSide } from './read-side.js'
import type { Stores } from './stores.js'

export interface Api {
  readonly services: ApiServices
  readonly routes: readonly AnyRoute[]
}

/** Called as soon as the administrator's key exists: the key is shown once, so a later failure must not lose it. */
export type OnAdminKeyCreated = (key: string) => void

/** The access directory, what is made of it, and all routes. */
export const openApi = async (
  config: Config,
  opened: Omit<ApiServices, 'access' | 'reading' | 'throttle' | 'maxTraceCalls' | 'maxFileBytes'> & Stores,
  readSide: ReadSide,
  onAdminKeyCreated: OnAdminKeyCreated,
): Promise<Api> => {
  const access = await openAccess(opened)
  const { createdKey, ignoredKey } = await bootstrapAccess(
    opened,
    access,
    config.bootstrapApiKey ?? undefined,
  )
  if (createdKey !== undefined) onAdminKeyCreated(createdKey)
  if (ignoredKey)
    opened.log.warn('access.bootstrap_key_ignored', {
      reason:
        'TALLYTREE_BOOTSTRAP_API_KEY differs from the key of the first start and is ignored; the first key stays valid',
    })
  await publishAllPrices(opened)
  const history = {
    head: () => opened.eventStore.head(),
    lastBy: readSide.lastBy,
    now: () => instantOf(opened.clock.now()),
  }
  const services = {
    ...opened,
    access,
    reading: readingFrom(readSide, history, await opened.eventStore.head()),
    throttle: throttleFor(readSide.lagging),
    maxTraceCalls: config.maxTraceCalls,
    maxFileBytes: config.maxFileBytes,
  }
  return { services, routes: allRoutes(services) }
}

/** On a full disk the service starts nevertheless: it can still answer reads. */
const publishAllPrices = async (opened: Parameters<typeof openApi>[1]): Promise<void> => {
  const correlationId = opened.ids.next()
  try {
    await publishDefaultPrices(opened)
    await publishPrices(opened, null, { correlationId, causationId: correlationId, actor: 'system' })
  } catch (error) {
    if (!(error instanceof StoreUnavailable) || error instanceof NewerEvents) throw error
    const reason = `new prices cannot be written (${error.message}); restart the service once it can write`
    opened.log.warn('prices.not_published', { reason })
  }
}
