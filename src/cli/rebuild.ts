import { setTimeout as sleep } from 'node:timers/promises'
import { systemIds } from '../adapters/system/ids.js'
import { systemClock } from '../adapters/system/system.js'
import { jsonLog } from '../adapters/log/json-log.js'
import { asking, requireApiKey, ServiceSilent, textOf, type Ask } from '../adapters/remote-service/request.js'
import { openReadSide, type ReadSide } from '../composition/read-side.js'
import { openStores, type Stores } from '../composition/stores.js'
import type { Config } from '../config.js'
import { instantOf } from '../domain/codec/instant.js'
import { execute } from '../runtime/execute.js'
import { OperatorError } from '../domain/ports/operator-error.js'
import { rebuildDecider } from '../domain/rebuild/decider.js'
import { rebuildStream } from '../domain/rebuild/events.js'
import { rebuildOf, rebuildsIn, UNFINISHED, type Rebuild } from '../projections/rebuilds/queries.js'

/** Where so much was not projected yet, a rebuild that was asked for before is not known yet. */
const KNOWN_WITHIN_MS = 30_000
/** A read of its progress may take as long as the engine allows a query. */
const SILENCE_MS = 60_000

/**
 * `tallytree rebuild`: makes all read models anew, through the running service, or, where none answers at the address of
 * the configuration and none is named, in this process over the same stores; answers the exit code.
 */
export const rebuild = async (url: string | undefined, config: Config): Promise<number> => {
  const named = url ?? `http://${config.host}:${config.port}`
  if (!(await isAnswering(named)) && url === undefined) return rebuildHere(config)
  const ask = asking(named, requireApiKey(config.apiKey), SILENCE_MS)
  const { id } = await said(ask, '/api/admin/rebuilds', 'POST')
  return toldUntilEnded(() => said(ask, `/api/admin/rebuilds/${id}`))
}

/** @throws OperatorError when something accepts connections and stays silent: it may be the service over these stores */
const isAnswering = async (url: string): Promise<boolean> => {
  try {
    const answer = await asking(url, '')('/health')
    answer.resume()
    return true
  } catch (error) {
    if (error instanceof ServiceSilent) throw error
    return false
  }
}

/** What the service says of a rebuild; the one that is under way, where it refuses to begin another. */
const said = async (ask: Ask, path: string, method: 'GET' | 'POST' = 'GET'): Promise<SeenRebuild> => {
  const answer = await ask(path, method)
  const text = await textOf(answer)
  const { statusCode = 0 } = answer
  if (statusCode === 503 && method === 'GET') return { id: '', state: 'running' }
  if (statusCode !== 200 && statusCode !== 409)
    throw new OperatorError(`the service answered ${statusCode} to ${path}: ${text.slice(0, 500)}`)
  return JSON.parse(text) as SeenRebuild
}

const rebuildHere = async (config: Config): Promise<number> => {
  const log = jsonLog(process.stderr)
  const stores = await openStores(config, log)
  const readSide = await openReadSide(config, stores, systemClock, log)
  try {
    const id = (await unfinished(stores, readSide)) ?? (await requested(stores))
    const look: LookAt = async () =>
      (await rebuildOf(stores.clickHouse.reader, id)) ?? { id, state: 'requested' }
    return await toldUntilEnded(look)
  } finally {
    await readSide.stop()
    await stores.eventStore.close()
    await stores.clickHouse.close()
    await stores.secrets.close()
  }
}

/** One that was asked for before, and cut off with its process: it goes on here. */
const unfinished = async (
  { eventStore, clickHouse }: Stores,
  readSide: Pick<ReadSide, 'waitFor'>,
): Promise<string | undefined> => {
  await readSide.waitFor(await eventStore.head(), KNOWN_WITHIN_MS)
  const [rebuild] = await rebuildsIn(clickHouse.reader, UNFINISHED, 1)
  return rebuild?.id
}

const requested = async ({ eventStore }: Stores): Promise<string> => {
  const id = systemIds.next()
  const request = { id, requested_at: instantOf(systemClock.now()), requested_by: 'system' }
  const cause = { correlationId: id, causationId: id, actor: 'system' }
  const command = { type: 'RequestRebuild', request } as const
  await execute({ eventStore, ids: systemIds })(rebuildDecider, rebuildStream(id), [command], cause, {
    assumeNew: true,
  })
  return id
}

/** What of a rebuild is told; positions as numbers or as digits. */
interface SeenRebuild extends Partial<Pick<Rebuild, 'events' | 'events_per_second' | 'remaining_seconds'>> {
  readonly id: string
  readonly state: Rebuild['state']
  readonly changed_models?: readonly string[]
  readonly reason?: string | null
}

type LookAt = () => Promise<SeenRebuild>

const LOOK_MS = 1000

/** Says on stderr how far a rebuild is until it has ended, and then what became of it; the exit code. */
const toldUntilEnded = async (look: LookAt): Promise<number> => {
  for (;;) {
    const seen = await look()
    if (seen.state === 'finished') {
      const changed = seen.changed_models ?? []
      process.stdout.write(
        changed.length === 0
          ? 'rebuilt: no read model changed\n'
          : `rebuilt: ${changed.join(', ')} changed\n`,
      )
      return 0
    }
    if (seen.state === 'failed' || seen.state === 'superseded') {
      process.stderr.write(`the rebuild is ${seen.state}${seen.reason ? `: ${seen.reason}` : ''}\n`)
      return 1
    }
    process.stderr.write(`${lineOf(seen)}\n`)
    await sleep(LOOK_MS)
  }
}

const lineOf = ({ state, events = 0, events_per_second = 0, remaining_seconds }: SeenRebuild): string => {
  const left = remaining_seconds == null ? '' : `, about ${Math.ceil(remaining_seconds)} s left`
  return `${state}: ${events} events, ${Math.round(events_per_second)}/s${left}`
}
