import {
  asked,
  healthy,
  shown,
  standingOf,
  type Health,
  type RequestOutcome,
} from '../../domain/gateway/upstreams/health.js'
import type { ServedModel } from '../../domain/gateway/upstreams/content.js'
import type { Target } from '../../domain/gateway/upstreams/offered.js'
import { inOrder } from '../../domain/gateway/upstreams/routing.js'

/** A request that a target has room for, until it ends. */
export interface Visit {
  readonly target: Target
  /** Its answer begins: a target that was out is back. */
  readonly begin: () => void
  /** What it showed; its room is free again. Counts once. */
  readonly end: (what: RequestOutcome) => void
}

export interface Standing {
  readonly health: Health
  readonly inFlight: number
}

interface Waiter {
  readonly targets: ReadonlyMap<string, Target>
  readonly grant: (key: string) => void
  readonly giveUp: () => void
}

const keyOf = ({ upstream, model, sharesWith = model.id }: Target): string => `${upstream.id}\n${sharesWith}`
const idsIn = (key: string) => key.split('\n') as [upstreamId: string, modelId: string]

/** How the targets of this process do, and how much of each is in use. */
export class LiveTargets {
  private readonly standings = new Map<string, Standing>()
  private readonly unreachable = new Set<string>()
  private readonly waiters = new Set<Waiter>()

  constructor(
    /** Milliseconds of a clock that only goes forward. */
    private readonly now: () => number,
    /** From 0 up to 1. */
    private readonly draw: () => number,
    /** A model of an upstream as it is offered now, whatever it was when somebody came to ask it. */
    private readonly offered: (upstreamId: string, modelId: string) => ServedModel | undefined,
  ) {}

  standingOf(target: Target): Standing {
    return this.standings.get(keyOf(target)) ?? { health: healthy, inFlight: 0 }
  }

  isReachable(upstreamId: string): boolean {
    return !this.unreachable.has(upstreamId)
  }

  /** What a probe of an upstream found. */
  found(upstreamId: string, isReachable: boolean): void {
    if (isReachable) this.unreachable.delete(upstreamId)
    else this.unreachable.add(upstreamId)
  }

  /** Milliseconds from now to a time of this clock. */
  untilThen(time: number): number {
    return time - this.now()
  }

  /** How many models of upstreams are out. */
  get out(): number {
    return [...this.standings.values()].filter(({ health }) => health.phase !== 'closed').length
  }

  inOrder(targets: readonly Target[]): readonly Target[] {
    const candidates = targets.map((target) => ({
      target,
      weight: target.upstream.content.weight,
      health: this.standingOf(target).health,
      isReachable: !target.upstream.content.probe || this.isReachable(target.upstream.id),
    }))
    return inOrder(candidates, this.now(), this.draw)
  }

  /** The first of the targets that has room; `among` are all that the model has. */
  enter(targets: readonly Target[], among: readonly Target[]): Visit | undefined {
    const target = targets.find((one) => this.hasRoom(keyOf(one)))
    return target === undefined ? undefined : this.visit(target, among)
  }

  /**
   * The first of the targets that comes to have room, in the turn of those who wait; undefined when time is up, or none
   * of them is offered any more.
   */
  wait(
    targets: readonly Target[],
    among: readonly Target[],
    ms: number,
    signal: AbortSignal,
  ): Promise<Visit | undefined> {
    return new Promise((resolve) => {
      const leave = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
        this.waiters.delete(waiter)
      }
      const giveUp = () => {
        leave()
        resolve(undefined)
      }
      const waiter: Waiter = {
        targets: new Map(targets.map((target) => [keyOf(target), target])),
        grant: (key) => {
          leave()
          resolve(this.visit(waiter.targets.get(key)!, among))
        },
        giveUp,
      }
      const timer = setTimeout(giveUp, ms)
      signal.addEventListener('abort', giveUp)
      this.waiters.add(waiter)
      if (signal.aborted || !this.isAnyOffered(waiter)) giveUp()
    })
  }

  /** The upstreams are others now: what has come of room is given to those who wait, and what is gone is forgotten. */
  changed(): void {
    for (const [key, { inFlight }] of this.standings)
      if (inFlight === 0 && this.offered(...idsIn(key)) === undefined) this.standings.delete(key)
    for (const waiter of this.waiters) {
      const key = [...waiter.targets.keys()].find((one) => this.hasRoom(one))
      if (key !== undefined) waiter.grant(key)
      else if (!this.isAnyOffered(waiter)) waiter.giveUp()
    }
  }

  private isAnyOffered({ targets }: Waiter): boolean {
    return [...targets.keys()].some((key) => this.offered(...idsIn(key)) !== undefined)
  }

  private hasRoom(key: string): boolean {
    const model = this.offered(...idsIn(key))
    if (model === undefined) return false
    const inFlight = this.standings.get(key)?.inFlight ?? 0
    return model.concurrency === null || inFlight < model.concurrency
  }

  private visit(target: Target, among: readonly Target[]): Visit {
    const key = keyOf(target)
    this.change(key, (standing) => ({ ...standing, inFlight: standing.inFlight + 1 }))
    let isProbe = standingOf(this.standingOf(target).health, this.now()) === 'due'
    let isOver = false
    this.change(key, (standing) => ({ ...standing, health: asked(standing.health, this.now()) }))
    const show = (what: RequestOutcome) => {
      const isLast = !among.some(
        (other) => keyOf(other) !== key && this.standingOf(other).health.phase === 'closed',
      )
      this.change(key, ({ health, inFlight }) => ({
        health: shown(health, what, this.now(), { isProbe, isLast }),
        inFlight,
      }))
    }
    return {
      target,
      begin: () => {
        if (isProbe) show('answer')
        isProbe = false
      },
      end: (what) => {
        if (isOver) return
        isOver = true
        show(what)
        this.leave(key)
      },
    }
  }

  /** The room goes to whoever has waited for it longest. */
  private leave(key: string): void {
    this.change(key, (standing) => ({ ...standing, inFlight: standing.inFlight - 1 }))
    for (const { targets, grant } of this.waiters) {
      if (!this.hasRoom(key)) return
      if (targets.has(key)) grant(key)
    }
  }

  private change(key: string, to: (standing: Standing) => Standing): void {
    const standing = to(this.standings.get(key) ?? { health: healthy, inFlight: 0 })
    const { inFlight, health } = standing
    const isUsual = inFlight === 0 && health.phase === 'closed' && health.failuresInARow === 0
    if (isUsual) this.standings.delete(key)
    else this.standings.set(key, standing)
  }
}
