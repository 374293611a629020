import { LRUCache } from 'lru-cache'
import { metricValues } from '../../domain/webhooks/automations/matching/runs.js'
import type { EventStore, RecordedEvent } from '../../kernel/ports/event-store.js'

/** The last values of a run's metrics, in log order. */
export interface MetricValues {
  /** The last `count` values before an event of the run; fewer if there are no more. */
  readonly before: (
    event: Pick<RecordedEvent, 'stream' | 'revision'>,
    metric: string,
    count: number,
  ) => Promise<readonly number[]>
}

interface Window {
  /** Up to this revision of the run's stream. */
  readonly revision: bigint
  readonly values: readonly number[]
  /** There are no earlier values. */
  readonly whole: boolean
}

const MOST_WINDOWS = 2000
const MOST_VALUES = 2000

/** Caches the last windows used; others are read from the run's stream, backwards. */
export const openMetricValues = (eventStore: Pick<EventStore, 'readStream'>): MetricValues => {
  const windows = new LRUCache<string, Window>({ max: MOST_WINDOWS })

  const readBack = async (
    stream: string,
    revision: bigint,
    metric: string,
    count: number,
  ): Promise<Window> => {
    const values: number[] = []
    for await (const event of eventStore.readStream(stream, { from: revision, backwards: true })) {
      values.unshift(...metricValues(event, metric))
      if (values.length >= count) return { revision, values, whole: false }
    }
    return { revision, values, whole: true }
  }

  const readOn = async (stream: string, revision: bigint, metric: string, from: Window): Promise<Window> => {
    const values = [...from.values]
    const limit = Number(revision - from.revision)
    for await (const event of eventStore.readStream(stream, { from: from.revision + 1n, limit })) {
      for (const value of metricValues(event, metric)) values.push(value)
    }
    const whole = from.whole && values.length <= MOST_VALUES
    return { revision, values: values.slice(-MOST_VALUES), whole }
  }

  return {
    before: async ({ stream, revision: at }, metric, count) => {
      if (at === 0n || count === 0) return []
      const revision = at - 1n
      const key = `${stream}\n${metric}`
      const before = windows.get(key)
      const read =
        before !== undefined && before.revision <= revision && (before.whole || before.values.length >= count)
          ? await readOn(stream, revision, metric, before)
          : await readBack(stream, revision, metric, count)
      windows.set(key, read)
      return read.values.slice(-count)
    },
  }
}
