import {
  ClickHouseUnavailable,
  type ClickHouse,
  type ClickHouseReads,
  type ClickHouseWriter,
} from '../../kernel/ports/clickhouse.js'

/** One host of a server, or of a cluster whose hosts have the same rows. */
export interface Host extends Pick<ClickHouse, 'prepare' | 'away' | 'close'> {
  readonly writer: ClickHouseWriter
  readonly reads: ClickHouseReads
}

/** So long a host that did not respond is used only where no other one is left. */
const AVOIDED_MS = 5000

/** Sends each statement to the first host that responds. */
export const firstOf = (hosts: readonly Host[]): Host => {
  const avoidedUntil = new Map<Host, number>()
  const isAvoided = (host: Host) =>
    host.away() !== undefined || performance.now() < (avoidedUntil.get(host) ?? 0)
  const current = () => hosts.find((host) => !isAvoided(host)) ?? hosts[0]!
  const noting = async <A>(work: (host: Host) => Promise<A>): Promise<A> => {
    const host = current()
    try {
      return await work(host)
    } catch (error) {
      note(host, error)
      throw error
    }
  }
  const note = (host: Host, error: unknown) => {
    if (error instanceof ClickHouseUnavailable && error.why === 'away')
      avoidedUntil.set(host, performance.now() + AVOIDED_MS)
  }

  return {
    prepare: async () => {
      for (let tries = 1; ; tries += 1)
        try {
          await noting((host) => host.prepare())
          return
        } catch (error) {
          const isAway = error instanceof ClickHouseUnavailable && error.why === 'away'
          if (!isAway || tries === hosts.length) throw error
        }
    },
    writer: {
      command: (sql) => noting(({ writer }) => writer.command(sql)),
      insert: (rows) => noting(({ writer }) => writer.insert(rows)),
      query: (...asked) => noting(({ writer }) => writer.query(...asked)),
    },
    reads: {
      query: (...asked) => noting(({ reads }) => reads.query(...asked)),
      async *stream(...asked) {
        const host = current()
        try {
          yield* host.reads.stream(...asked)
        } catch (error) {
          note(host, error)
          throw error
        }
      },
    },
    away: () => (hosts.every((host) => host.away() !== undefined) ? hosts[0]!.away() : undefined),
    close: async () => {
      for (const host of hosts) await host.close()
    },
  }
}
