import type { RunEvent } from '../../domain/runs/events.js'
import type { Ports } from '../../kernel/ports/ports.js'

/** The first event and the last two have the start, the end and the latest metrics of a run. */
export const readRun = async ({ eventStore }: Pick<Ports, 'eventStore'>, stream: string) => {
  const events: RunEvent[] = []
  for (const range of [{ limit: 1 }, { backwards: true, limit: 2 }])
    for await (const { type, data } of eventStore.readStream(stream, range))
      events.push({ type, data } as unknown as RunEvent)
  const [first, ...last] = events
  if (first?.type !== 'RunStarted') return undefined
  const { run_id: id, name, user, started_at } = first.data
  const end = last.find((event) => event.type === 'RunFinished' || event.type === 'RunFailed')
  const logged = last.find((event) => event.type === 'MetricsLogged')
  return {
    id,
    name,
    user,
    started_at,
    state: end?.data.state ?? 'running',
    ended_at: end?.data.ended_at ?? null,
    last_logged: logged === undefined ? null : { metrics: logged.data.metrics, step: logged.data.step },
  }
}
