import { openAccess, type Access } from '../application/access/access.js'
import { bootstrapAccess } from '../application/access/bootstrap.js'
import type { History } from '../application/reading/as-of.js'
import { throttleFor } from '../application/throttle.js'
import { readingFrom, type Reading } from '../application/reading/reading.js'
import type { Inference } from '../gateway/gateway.js'
import type { AnyRoute } from '../api/server/route.js'
import { allRoutes, type ApiParts } from '../api/routes.js'
import type { HealthChecks } from '../api/service/health.js'
import type { Config } from '../config.js'
import { instantOf } from '../kernel/codec/instant.js'
import type { Log } from '../kernel/ports/log.js'
import { positionByTime } from '../projections/runtime/event-times.js'
import type { OpenInference } from './gateway.js'
import { publishDefaultPrices } from '../application/prices/default-prices.js'
import type { ReadSide } from './read-side.js'
import type { Stores } from './stores.js'

export interface Api {
  readonly access: Access
  readonly routes: readonly AnyRoute[]
  readonly reading: Reading
  readonly inference: Inference
}

/** Called as soon as the administrator's key exists: the key is shown once, so a later failure must not lose it. */
export type OnAdminKeyCreated = (key: string) => void

/** The access directory and all routes. */
export const openApi = async (
  config: Config,
  ports: ApiParts['ports'] & Stores & { readonly log: Log },
  readSide: ReadSide,
  checks: HealthChecks,
  { inference, managing }: OpenInference,
  onAdminKeyCreated: OnAdminKeyCreated,
): Promise<Api> => {
  const access = await openAccess(ports)
  const { createdKey, ignoredKey } = await bootstrapAccess(ports, access, config.bootstrapApiKey ?? undefined)
  if (createdKey !== undefined) onAdminKeyCreated(createdKey)
  if (ignoredKey)
    ports.log.warn('access.bootstrap_key_ignored', {
      reason:
        'TALLYTREE_BOOTSTRAP_API_KEY differs from the key of the first start and is ignored; the first key stays valid',
    })
  await publishDefaultPrices(ports)
  const correlationId = ports.ids.next()
  await managing.publishPrices(null, { correlationId, causationId: correlationId, actor: 'system' })
  const reading = readingFrom(readSide, historyOf(ports), await ports.eventStore.head())
  const parts = {
    ...checks,
    ports,
    access,
    teams: access,
    reading,
    throttle: throttleFor(readSide.lagging),
    inference,
    ...managing,
    maxTraceCalls: config.maxTraceCalls,
    vendor: config.vendor.toLowerCase(),
  }
  return { access, routes: allRoutes(parts), reading, inference: parts }
}

const historyOf = ({ eventStore, clickHouse, clock }: ApiParts['ports'] & Stores): History => ({
  head: () => eventStore.head(),
  lastBy: positionByTime(clickHouse.reader),
  now: () => instantOf(clock.now()),
})
