import { createHash } from 'node:crypto'
import {
  healthy,
  recordOutcome,
  startProbe,
  stateOf,
  type Health,
  type RequestOutcome,
} from '../../domain/gateway/upstreams/health.js'
import type { ServedModel } from '../../domain/gateway/upstreams/content.js'
import type { Target } from '../../domain/gateway/upstreams/offered.js'
import { inOrder } from '../../domain/gateway/upstreams/routing.js'

/** A request's place within the concurrency limit of a target. */
export interface Lease {
  readonly target: Target
  /** The response began: a probed target is healthy. */
  readonly begin: () => void
  /** Records the outcome and frees the place. Later calls are ignored. */
  readonly end: (outcome: RequestOutcome) => void
}

export interface TargetState {
  readonly health: Health
  readonly inFlight: number
}

interface Waiter {
  readonly targets: ReadonlyMap<string, Target>
  readonly grant: (key: string) => void
  readonly giveUp: () => void
}

/** A number from 0 up to 1 that is always the same for a key and a target (rendezvous hashing). */
const drawnFor = (key: string, target: Target): number =>
  createHash('sha256')
    .update(`${key}\n${keyOf(target)}`)
    .digest()
    .readUInt32BE() /
  2 ** 32

const IDLE: TargetState = { health: healthy, inFlight: 0 }

const keyOf = ({ upstream, model, sharesWith = model.id }: Target): string => `${upstream.id}\n${sharesWith}`
const idsIn = (key: string) => key.split('\n') as [upstreamId: string, modelId: string]

/** Circuit breakers and requests in flight of the targets, in this process. */
export class TargetStates {
  private readonly states = new Map<string, TargetState>()
  /** Requests that wait for a place, the oldest first. */
  private readonly waiters = new Set<Waiter>()

  constructor(
    /** Milliseconds of a monotonic clock. */
    private readonly now: () => number,
    /** Random numbers from 0 up to 1. */
    private readonly draw: () => number,
    /** A model of an upstream as it is offered now. */
    private readonly offered: (upstreamId: string, modelId: string) => ServedModel | undefined,
  ) {}

  stateOf(target: Target): TargetState {
    return this.states.get(keyOf(target)) ?? IDLE
  }

  /** Milliseconds from now to a time of this clock. */
  untilThen(time: number): number {
    return time - this.now()
  }

  /** The number of open circuit breakers. */
  get open(): number {
    return [...this.states.values()].filter(({ health }) => health.phase !== 'closed').length
  }

  /** With an affinity key, its requests get the same order while the same targets are healthy. */
  inOrder(targets: readonly Target[], affinityKey?: string): readonly Target[] {
    const candidates = targets.map((target) => ({
      target,
      weight: target.upstream.content.weight,
      health: this.stateOf(target).health,
    }))
    const draw = affinityKey === undefined ? this.draw : (target: Target) => drawnFor(affinityKey, target)
    return inOrder(candidates, this.now(), draw)
  }

  /** A lease of the first target below its concurrency limit. `among`: all targets of the model. */
  enter(targets: readonly Target[], among: readonly Target[]): Lease | undefined {
    const target = targets.find((one) => this.hasRoom(keyOf(one)))
    return target === undefined ? undefined : this.lease(target, among)
  }

  /** Waits for a place at one of the targets; undefined after the time, or if none of them is offered any more. */
  wait(
    targets: readonly Target[],
    among: readonly Target[],
    ms: number,
    signal: AbortSignal,
  ): Promise<Lease | undefined> {
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
          resolve(this.lease(waiter.targets.get(key)!, among))
        },
        giveUp,
      }
      const timer = setTimeout(giveUp, ms)
      signal.addEventListener('abort', giveUp)
      this.waiters.add(waiter)
      if (signal.aborted || !this.isAnyOffered(waiter)) giveUp()
    })
  }

  /** Upstreams changed: limits may be higher, and targets may be gone. */
  directoryChanged(): void {
    for (const [key, { inFlight }] of this.states)
      if (inFlight === 0 && this.offered(...idsIn(key)) === undefined) this.states.delete(key)
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
    const inFlight = this.states.get(key)?.inFlight ?? 0
    return model.concurrency === null || inFlight < model.concurrency
  }

  private lease(target: Target, among: readonly Target[]): Lease {
    const key = keyOf(target)
    let isProbe = stateOf(this.stateOf(target).health, this.now()) === 'half-open'
    let isOver = false
    this.change(key, ({ health, inFlight }) => ({
      health: startProbe(health, this.now()),
      inFlight: inFlight + 1,
    }))
    const record = (outcome: RequestOutcome) => {
      const isLast = !among.some(
        (other) => keyOf(other) !== key && this.stateOf(other).health.phase === 'closed',
      )
      this.change(key, ({ health, inFlight }) => ({
        health: recordOutcome(health, outcome, this.now(), { isProbe, isLast }),
        inFlight,
      }))
    }
    return {
      target,
      begin: () => {
        if (isProbe) record('answer')
        isProbe = false
      },
      end: (outcome) => {
        if (isOver) return
        isOver = true
        record(outcome)
        this.leave(key)
      },
    }
  }

  private leave(key: string): void {
    this.change(key, ({ health, inFlight }) => ({ health, inFlight: inFlight - 1 }))
    for (const { targets, grant } of this.waiters) {
      if (!this.hasRoom(key)) return
      if (targets.has(key)) grant(key)
    }
  }

  private change(key: string, to: (state: TargetState) => TargetState): void {
    const state = to(this.states.get(key) ?? IDLE)
    const { inFlight, health } = state
    const isIdle = inFlight === 0 && health.phase === 'closed' && health.failuresInARow === 0
    if (isIdle) this.states.delete(key)
    else this.states.set(key, state)
  }
}
