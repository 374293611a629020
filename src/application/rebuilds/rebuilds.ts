import { rebuildDecider, rebuildStream } from '../../domain/rebuilds/rebuild.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { commandsOf } from '../../kernel/execute.js'
import { KeyedMutex } from '../../kernel/keyed-mutex.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { rebuildsIn, UNFINISHED } from '../../projections/rebuilds/queries.js'
import { Failure } from '../failure.js'
import type { PresentConditions } from '../reading/reading.js'
import type { Services } from '../services.js'

/** Requests for rebuilds are acknowledged under this name, in place of a project. */
export const REBUILDS_SCOPE = 'rebuilds'

const write = commandsOf(rebuildDecider, ({ request }) => rebuildStream(request.id), { assumeNew: true })

/** Requests a rebuild unless another one is running. */
export const requestRebuilds = (services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'reading'>) => {
  const { reading, ids, clock } = services
  const mutex = new KeyedMutex()
  return (userId: string, reader: ClickHouseReader, conditions: PresentConditions) => (cause: Cause) =>
    mutex.runExclusive(REBUILDS_SCOPE, async () => {
      // Ignores `stale`, which would miss a rebuild that was just requested.
      await reading.waitForNow(REBUILDS_SCOPE, { ...conditions, stale: false })
      const [unfinished] = await rebuildsIn(reader, UNFINISHED, 1)
      if (unfinished !== undefined) {
        const running = `A rebuild is already running: see GET /api/admin/rebuilds/${unfinished.id}.`
        throw new Failure('conflict', running, { body: { id: unfinished.id } })
      }
      const request = { id: ids.next(), requested_at: instantOf(clock.now()), requested_by: userId }
      const { position } = await write(services, { type: 'RequestRebuild', request })(cause)
      reading.ackPosition(REBUILDS_SCOPE, position)
      return { request, position }
    })
}
