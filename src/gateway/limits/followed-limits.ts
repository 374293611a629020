import { limitDecider, noLimits, type TeamLimits } from '../../domain/gateway/limits/decider.js'
import { LIMITS_PREFIX, limitsStream, type LimitEvent } from '../../domain/gateway/limits/events.js'
import type { EventStore, RecordedEvent } from '../../kernel/ports/event-store.js'

interface Followed {
  readonly limits: TeamLimits
  /** The revision that comes next. */
  readonly next: bigint
}

const NOTHING: Followed = { limits: noLimits, next: 0n }

/** The limits of all teams that have some, as far as the log was read. */
export class FollowedLimits {
  private readonly byTeam = new Map<string, Followed>()

  /** Those of some teams as they are now: events that were read that way are not taken again. */
  static async of(
    eventStore: Pick<EventStore, 'readStream'>,
    teams: readonly string[],
  ): Promise<FollowedLimits> {
    const followed = new FollowedLimits()
    for (const team of teams)
      for await (const event of eventStore.readStream(limitsStream(team))) followed.take(event)
    return followed
  }

  of(team: string): TeamLimits {
    return this.byTeam.get(team)?.limits ?? noLimits
  }

  teams(): readonly string[] {
    return [...this.byTeam.keys()]
  }

  take({ stream, revision, type, data }: RecordedEvent): void {
    if (!stream.startsWith(LIMITS_PREFIX)) return
    const team = stream.slice(LIMITS_PREFIX.length)
    const { limits, next } = this.byTeam.get(team) ?? NOTHING
    if (revision !== next) return
    const event = { type, data } as unknown as LimitEvent
    this.byTeam.set(team, { limits: limitDecider.evolve(limits, event), next: revision + 1n })
  }
}
