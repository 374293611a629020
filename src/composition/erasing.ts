import { setTimeout as sleep } from 'node:timers/promises'
import { runErasure } from '../application/erasures/job.js'
import { causeOf, requestOfDeletion, runProjectErasure } from '../application/erasures/project-job.js'
import { requestByPolicy } from '../application/erasures/policy.js'
import { systemClock, systemIds } from '../adapters/system/system.js'
import type { ProjectDeleted } from '../domain/access/events.js'
import type { ErasureRequested } from '../domain/erasures/erasure.js'
import { eventsAt } from '../kernel/events-at.js'
import { followLog } from '../kernel/follow-log.js'
import type { EventStore, Position } from '../kernel/ports/event-store.js'
import type { Log } from '../kernel/ports/log.js'
import { callsProjection } from '../projections/calls/project.js'
import { clearContent, clearFigures, clearProject } from '../projections/erasures/clear-content.js'
import { withoutFiguresProjection } from '../projections/erasures/without-figures.js'
import type { Projection } from '../projections/projection.js'
import { feedbackProjection } from '../projections/feedback/project.js'
import { rebuildsIn } from '../projections/rebuilds/queries.js'
import { errorName } from '../projections/runtime/error-name.js'
import { insertBatch } from '../projections/runtime/insert-batch.js'
import type { Projector } from '../projections/runtime/projector.js'
import type { Stores } from './stores.js'

interface ErasingOptions extends Pick<Stores, 'eventStore' | 'blobs' | 'clickHouse'> {
  readonly projector: Pick<Projector, 'waitFor'>
  /** Runs while the read models are not rebuilt. */
  readonly exclusively: (work: () => Promise<void>) => Promise<void>
  readonly log: Pick<Log, 'info' | 'error'>
}

export interface Erasing {
  /** Changes when content is erased: what was cached before must not be shown. */
  readonly generation: () => string
  readonly stop: () => Promise<void>
}

const WAIT_MS = 1000
/** Rows of other projections have figures alone, and stay as they are. */
const WITH_CONTENT = [callsProjection, feedbackProjection]
const POLICY_EVERY_MS = 3_600_000

/** Carries out requested erasures one after another, an interrupted one first. */
export const startErasing = async (options: ErasingOptions): Promise<Erasing> => {
  const { eventStore, blobs, clickHouse, projector, exclusively, log } = options
  if (eventStore.erase === undefined) return { generation: () => '', stop: () => Promise.resolve() }
  const stopping = new AbortController()
  const { signal } = stopping
  let cleared = 0

  /** Slowly, because other readers and the projector use the same engine. */
  const insertAgain = (positions: readonly Position[], projections: readonly Projection[]) => async () => {
    const options = { clickHouse: clickHouse.writer, blobs, eventStore, projections }
    for await (const batch of eventsAt(eventStore, positions)) {
      signal.throwIfAborted()
      const begin = performance.now()
      await insertBatch(options, batch)
      await sleep(performance.now() - begin, undefined, { ref: false })
    }
  }
  const clearReadModels: Parameters<typeof runErasure>[0]['clearReadModels'] = (
    projectId,
    ids,
    positions,
    kind,
  ) =>
    clearing(() =>
      kind === 'figures'
        ? clearFigures(
            clickHouse,
            projectId,
            ids,
            insertAgain(positions, [withoutFiguresProjection]),
            signal,
            () => eventStore.head(),
          )
        : clearContent(clickHouse, projectId, ids, insertAgain(positions, WITH_CONTENT), signal),
    )
  const clearing = async (work: () => Promise<void>) => {
    const clear = async () => {
      // A rebuild that was interrupted has rows with content, and is continued first.
      if ((await rebuildsIn(clickHouse.writer, ['running', 'swapping'], 1)).length > 0) return
      await work()
      cleared += 1
    }
    for (;;) {
      const before = cleared
      await exclusively(clear)
      if (cleared > before) return
      await sleep(WAIT_MS, undefined, { signal, ref: false })
    }
  }
  const ports = {
    eventStore,
    blobs,
    ids: systemIds,
    clock: systemClock,
    reader: clickHouse.reader,
    signal,
    waitUntilProjected: async (position: Position) => {
      while (!(await projector.waitFor(position, WAIT_MS))) signal.throwIfAborted()
    },
    clearReadModels,
    clearProject: (projectId: string) => clearing(() => clearProject(clickHouse, projectId, signal)),
  }
  const onError = (error: unknown) => {
    if (!signal.aborted) log.error('erasure.failed', { error: errorName(error), reason: reasonOf(error) })
  }
  const follower = followLog({
    eventStore,
    types: new Set(['ErasureRequested', 'RetentionChosen', 'ProjectDeleted']),
    after: await beforeUnfinished(eventStore),
    onEvent: async (event) => {
      if (event.type === 'RetentionChosen') return requestByPolicy(ports)
      if (event.type === 'ProjectDeleted')
        return requestOfDeletion(ports, event.data as unknown as ProjectDeleted, causeOf(event))
      const { project_id, id, whole_project } = event.data as unknown as ErasureRequested
      await (whole_project ? runProjectErasure : runErasure)(ports, { project_id, id }, event)
      log.info('erasure.finished', { project: project_id, id })
    },
    onError,
    signal,
  })
  const byPolicy = () =>
    (looking ??= requestByPolicy(ports)
      .catch(onError)
      .finally(() => (looking = undefined)))
  let looking: Promise<void> | undefined
  const timer = setInterval(() => void byPolicy(), POLICY_EVERY_MS).unref()
  void byPolicy()
  return {
    generation: () => `.${cleared}`,
    stop: async () => {
      clearInterval(timer)
      stopping.abort()
      await looking
      await follower.stopped
    },
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const ENDS = new Set(['ProjectDeleted', 'ErasureRequested', 'ErasureFinished'])

/** The position before the oldest request that has not finished. */
const beforeUnfinished = async (eventStore: EventStore): Promise<Position> => {
  const finished = new Set<unknown>()
  let before = await eventStore.head()
  for await (const { type, data, position } of eventStore.readBackwards(ENDS)) {
    if (type === 'ErasureFinished') finished.add(data['id'])
    else if (!finished.has(data['erasure_id'] ?? data['id'])) before = position - 1n
  }
  return before
}
