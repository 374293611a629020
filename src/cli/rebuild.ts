import { setTimeout as sleep } from 'node:timers/promises'
import { systemIds, systemClock } from '../adapters/system/system.js'
import { jsonLog } from '../adapters/log/json-log.js'
import { asking, requireApiKey, textOf, type Ask } from '../adapters/remote-service/request.js'
import { openReadSide, type ReadSide } from '../composition/read-side.js'
import { openStores, type Stores } from '../composition/stores.js'
import type { Config } from '../config.js'
import { instantOf } from '../kernel/codec/instant.js'
import { cleanupStack } from '../kernel/cleanup-stack.js'
import { execute } from '../kernel/execute.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { rebuildDecider, rebuildStream } from '../domain/rebuilds/rebuild.js'
import { rebuildOf, rebuildsIn, UNFINISHED, type Rebuild } from '../projections/rebuilds/queries.js'
import { isAnswering } from './answering.js'

/** How long to wait for the projector before looking for an unfinished rebuild. */
const CAUGHT_UP_WITHIN_MS = 30_000
/** A read of the progress may take as long as the engine allows a query. */
const RESPONSE_TIMEOUT_MS = 60_000

/**
 * `tallytree rebuild`: rebuilds all read models through the running service. Without `--url`, and if no service responds at
 * the configured address, it rebuilds in this process. Returns the exit code.
 */
export const rebuild = async (url: string | undefined, config: Config): Promise<number> => {
  const named = url ?? `http://${config.host}:${config.port}`
  if (!(await isAnswering(named)) && url === undefined) return rebuildHere(config)
  const ask = asking(named, requireApiKey(config.apiKey), RESPONSE_TIMEOUT_MS)
  const { id } = await fetchRebuild(ask, '/api/admin/rebuilds', 'POST')
  return waitForRebuild(() => fetchRebuild(ask, `/api/admin/rebuilds/${id}`))
}

/** Requests or reads a rebuild. A 409 returns the rebuild that is already running. */
const fetchRebuild = async (
  ask: Ask,
  path: string,
  method: 'GET' | 'POST' = 'GET',
): Promise<RebuildProgress> => {
  const answer = await ask(path, method)
  const text = await textOf(answer)
  const { statusCode = 0 } = answer
  if (statusCode === 503 && method === 'GET') return { id: '', state: 'running' }
  if (statusCode !== 200 && statusCode !== 409)
    throw new OperatorError(`the service answered ${statusCode} to ${path}: ${text.slice(0, 500)}`)
  return JSON.parse(text) as RebuildProgress
}

const rebuildHere = async (config: Config): Promise<number> => {
  const log = jsonLog(process.stderr)
  const stores = await openStores(config, log)
  const cleanup = cleanupStack()
  cleanup.add(() => stores.secrets.close())
  cleanup.add(() => stores.clickHouse.close())
  cleanup.add(() => stores.eventStore.close())
  try {
    const readSide = await openReadSide(config, stores, systemClock, log)
    cleanup.add(() => readSide.stop())
    const id = (await findUnfinished(stores, readSide)) ?? (await requestRebuild(stores))
    const progress: ReadProgress = async () =>
      (await rebuildOf(stores.clickHouse.reader, id)) ?? { id, state: 'requested' }
    return await waitForRebuild(progress)
  } finally {
    await cleanup.run()
  }
}

/** A rebuild that an earlier process did not finish continues in this one. */
const findUnfinished = async (
  { eventStore, clickHouse }: Stores,
  readSide: Pick<ReadSide, 'waitFor'>,
): Promise<string | undefined> => {
  await readSide.waitFor(await eventStore.head(), CAUGHT_UP_WITHIN_MS)
  const [rebuild] = await rebuildsIn(clickHouse.reader, UNFINISHED, 1)
  return rebuild?.id
}

const requestRebuild = async ({ eventStore }: Stores): Promise<string> => {
  const id = systemIds.next()
  const request = { id, requested_at: instantOf(systemClock.now()), requested_by: 'system' }
  const cause = { correlationId: id, causationId: id, actor: 'system' }
  const command = { type: 'RequestRebuild', request } as const
  await execute({ eventStore, ids: systemIds })(rebuildDecider, rebuildStream(id), [command], cause, {
    assumeNew: true,
  })
  return id
}

/** The fields of a rebuild that are printed. */
interface RebuildProgress extends Partial<
  Pick<Rebuild, 'events' | 'events_per_second' | 'remaining_seconds'>
> {
  readonly id: string
  readonly state: Rebuild['state']
  readonly reason?: string | null
}

type ReadProgress = () => Promise<RebuildProgress>

const POLL_MS = 1000

/** Prints the progress of a rebuild on stderr until it ends. Returns the exit code. */
const waitForRebuild = async (readProgress: ReadProgress): Promise<number> => {
  for (;;) {
    const progress = await readProgress()
    if (progress.state === 'finished') {
      process.stdout.write(`rebuilt: ${progress.events ?? 0} events\n`)
      return 0
    }
    if (progress.state === 'failed' || progress.state === 'superseded') {
      process.stderr.write(
        `the rebuild is ${progress.state}${progress.reason ? `: ${progress.reason}` : ''}\n`,
      )
      return 1
    }
    process.stderr.write(`${lineOf(progress)}\n`)
    await sleep(POLL_MS)
  }
}

const lineOf = ({ state, events = 0, events_per_second = 0, remaining_seconds }: RebuildProgress): string => {
  const left = remaining_seconds == null ? '' : `, about ${Math.ceil(remaining_seconds)} s left`
  return `${state}: ${events} events, ${Math.round(events_per_second)}/s${left}`
}
